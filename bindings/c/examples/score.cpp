// The estimator as a C++ class: freed by itself, errors as exceptions.
//
//     c++ -std=c++17 score.cpp $(pkg-config --cflags --libs abstain) -o score
//     ./score estimator.json
#include <abstain.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

class Estimator {
public:
    explicit Estimator(const std::string &path) {
        abstain_error error;
        handle_.reset(abstain_load(path.c_str(), &error));
        if (!handle_) throw std::runtime_error(error.message);
    }

    struct Scores {
        std::vector<int64_t> predictions;
        std::vector<double> confidences;
        std::vector<uint8_t> accepts;  // empty without a threshold
    };

    // Scores rows that follow each other; threads may share the estimator.
    Scores score(const std::vector<float> &rows, std::size_t columns) const {
        const std::size_t n = rows.size() / columns;
        Scores scores{std::vector<int64_t>(n), std::vector<double>(n), {}};
        if (abstain_has_threshold(handle_.get())) scores.accepts.resize(n);
        abstain_error error;
        if (abstain_score_f32(handle_.get(), rows.data(), n, columns, 0, nullptr,
                              scores.predictions.data(), scores.confidences.data(), nullptr,
                              scores.accepts.empty() ? nullptr : scores.accepts.data(), &error))
            throw std::runtime_error(error.message);
        return scores;
    }

    std::string name() const { return abstain_name(handle_.get()); }

private:
    struct Free {
        void operator()(abstain_estimator *estimator) const { abstain_free(estimator); }
    };
    std::unique_ptr<abstain_estimator, Free> handle_;
};

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    try {
        const Estimator estimator(argv[1]);
        const auto scores = estimator.score({4.0F, 1.0F, 0.5F, 2.0F, 1.9F, 0.0F}, 3);
        std::printf("%s\n", estimator.name().c_str());
        for (std::size_t row = 0; row < scores.predictions.size(); ++row) {
            const bool accept = !scores.accepts.empty() && scores.accepts[row];
            std::printf("%d %.6f %s\n", static_cast<int>(scores.predictions[row]),
                        scores.confidences[row], accept ? "accept" : "abstain");
        }
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
