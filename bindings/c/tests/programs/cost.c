/*
 * Rows per second through the interface: cost ARTIFACT CLASSES ROWS BATCH. The rows are those that
 * the test scores without it. Prints the fastest of several rounds, because other programs disturb
 * some, and the bits of the sum of the confidences.
 */
#include <abstain.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int argc, char **argv) {
    abstain_error error;
    abstain_estimator *estimator = argc == 5 ? abstain_load(argv[1], &error) : NULL;
    if (!estimator)
        return 2;
    size_t classes = strtoul(argv[2], NULL, 10), rows = strtoul(argv[3], NULL, 10);
    size_t batch = strtoul(argv[4], NULL, 10);
    float *logits = malloc(rows * classes * sizeof *logits);
    int64_t *predictions = malloc(rows * sizeof *predictions);
    double *confidences = malloc(rows * sizeof *confidences);
    if (!logits || !predictions || !confidences)
        return 2;
    uint32_t state = 1;
    for (size_t k = 0; k < rows * classes; k++) {
        state = state * 1664525 + 1013904223;
        logits[k] = (float)(state >> 8) / (1 << 20);
    }
    double fastest = 0;
    for (int round = 0; round < 30; round++) {
        double start = now();
        for (size_t first = 0; first + batch <= rows; first += batch) {
            if (abstain_score_f32(estimator, logits + first * classes, batch, classes, 0, NULL,
                                  predictions + first, confidences + first, NULL, NULL, &error))
                return 1;
        }
        double speed = (double)rows / (now() - start);
        fastest = speed > fastest ? speed : fastest;
    }
    double sum = 0;
    for (size_t k = 0; k < rows; k++)
        sum += confidences[k];
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    printf("%.0f %016" PRIx64 "\n", fastest, bits);
    free(logits);
    free(predictions);
    free(confidences);
    abstain_free(estimator);
    return 0;
}
