/* Every kind of error: prints code, place and text of each. The artifacts are in the working
 * directory. */
#include <abstain.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static abstain_error error;
static const char *codes[] = {"OK",            "INVALID_ARGUMENT", "CANNOT_READ",
                              "INVALID_ARTIFACT", "WRONG_COLUMNS",    "INVALID_ROW",
                              "NO_THRESHOLD",  "OTHER_MODEL",      "INTERNAL"};

static void show(const char *what) {
    printf("%s\n    %s", what, codes[error.code]);
    if (error.row >= 0)
        printf(", row %" PRId64, error.row);
    if (error.column >= 0)
        printf(", column %" PRId64, error.column);
    if (!isnan(error.value))
        printf(", value %g", error.value);
    printf("\n    %s\n", error.message);
    memset(&error, 0x55, sizeof error);
}

static void load(const char *path) {
    abstain_estimator *estimator = abstain_load(path, &error);
    if (estimator)
        printf("%s was loaded\n", path);
    char what[200];
    snprintf(what, sizeof what, "load %s", path ? path : "NULL");
    show(what);
    abstain_free(estimator);
}

static void load_memory(const char *what, const char *json, size_t size) {
    abstain_free(abstain_load_memory(json, size, &error));
    show(what);
}

static abstain_estimator *loaded(const char *path) {
    abstain_estimator *estimator = abstain_load(path, &error);
    if (!estimator) {
        show(path);
        exit(1);
    }
    return estimator;
}

int main(void) {
    load(NULL);
    load("missing.json");
    load("-");
    load(".");
    load("empty.json");
    load("cut.json");
    load("not-text.json");
    load("future.json");
    load("unknown-field.json");
    load("contradiction.json");
    load("table.json");
    load_memory("load from NULL", NULL, 10);
    load_memory("load from no bytes", "", 0);
    load_memory("load a list", "[1]", 3);

    abstain_estimator *estimator = loaded("three.json");
    _Alignas(8) float rows[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0};
    int64_t predictions[4];
    double confidences[4], values[4];
    uint8_t accepts[4];
    double extra[4] = {0, 0, 0, 0};
/* Scores rows; the arrays to write are the last arguments. */
#define SCORE(...)                                                                                \
    do {                                                                                          \
        if (abstain_score_f32(__VA_ARGS__, &error) != error.code)                                 \
            printf("another code was returned\n");                                                \
        show("score(" #__VA_ARGS__ ")");                                                          \
    } while (0)
    SCORE(estimator, rows, 4, 3, 0, NULL, predictions, confidences, NULL, NULL);
    SCORE(estimator, NULL, 0, 3, 0, NULL, predictions, confidences, NULL, NULL);
    SCORE(NULL, rows, 4, 3, 0, NULL, predictions, NULL, NULL, NULL);
    SCORE(estimator, NULL, 4, 3, 0, NULL, predictions, NULL, NULL, NULL);
    SCORE(estimator, rows, 4, 3, 0, NULL, NULL, NULL, NULL, NULL);
    SCORE(estimator, rows, 4, 3, 2, NULL, predictions, NULL, NULL, NULL);
    SCORE(estimator, rows, 4, 3, 0, extra, predictions, NULL, NULL, NULL);
    SCORE(estimator, rows, 4, 4, 0, NULL, predictions, NULL, NULL, NULL);
    SCORE(estimator, rows, 4, 0, 0, NULL, predictions, NULL, NULL, NULL);
    SCORE(estimator, NULL, 0, 4, 0, NULL, predictions, NULL, NULL, NULL);
    SCORE(estimator, rows, SIZE_MAX, 3, 0, NULL, predictions, NULL, NULL, NULL);
    SCORE(estimator, rows, SIZE_MAX / 8, 3, 3, NULL, predictions, NULL, NULL, NULL);
    SCORE(estimator, rows, 2, 3, SIZE_MAX - 1, NULL, predictions, NULL, NULL, NULL);
    const float *misaligned_rows = (const void *)((const char *)rows + 1);
    SCORE(estimator, misaligned_rows, 4, 3, 0, NULL, predictions, NULL, NULL, NULL);
    double *misaligned = (void *)((char *)confidences + 4);
    SCORE(estimator, rows, 3, 3, 0, NULL, NULL, misaligned, NULL, NULL);
    SCORE(estimator, rows, 4, 3, 0, NULL, NULL, confidences, confidences + 3, NULL);
    SCORE(estimator, rows, 4, 3, 0, NULL, NULL, (double *)rows, NULL, NULL);
    SCORE(estimator, rows, 4, 3, 0, NULL, predictions, confidences, NULL, accepts);
    rows[7] = NAN;
    SCORE(estimator, rows, 4, 3, 0, NULL, predictions, NULL, NULL, NULL);
    rows[7] = -INFINITY;
    SCORE(estimator, rows, 4, 3, 0, NULL, predictions, NULL, NULL, NULL);
    rows[7] = 1e30f;
    SCORE(estimator, rows, 4, 3, 0, NULL, predictions, NULL, NULL, NULL);
    if (abstain_score_f32(estimator, rows, 4, 4, 0, NULL, predictions, NULL, NULL, NULL, NULL) !=
        ABSTAIN_WRONG_COLUMNS)
        printf("without an error struct, another code\n");

    /* A row far behind the first piece. */
    enum { MANY = 1000 };
    double *many = calloc(3 * MANY, sizeof *many), *out = malloc(MANY * sizeof *out);
    many[3 * 777 + 2] = 1e101;
    abstain_score_f64(estimator, many, MANY, 3, 0, NULL, NULL, out, NULL, NULL, &error);
    show("one of a thousand rows is too large");
    free(many);
    free(out);

    abstain_check_model(estimator, "resnet18", &error);
    show("check_model resnet18");
    abstain_check_model(estimator, "", &error);
    show("check_model of nothing");
    abstain_check_model(estimator, NULL, &error);
    show("check_model NULL");
    abstain_check_model(NULL, "resnet50", &error);
    show("check_model of no estimator");
    abstain_free(estimator);

    estimator = loaded("extra.json");
    if (!abstain_needs_extra(estimator))
        printf("an extra column is needed\n");
    SCORE(estimator, rows, 2, 3, 0, NULL, predictions, NULL, NULL, NULL);
    extra[1] = INFINITY;
    SCORE(estimator, rows, 2, 3, 0, extra, predictions, NULL, NULL, NULL);
    abstain_free(estimator);

    estimator = loaded("probabilities.json");
    SCORE(estimator, rows, 1, 3, 0, NULL, predictions, NULL, NULL, NULL);
    float sums[] = {0.5f, 0.25f, 0.25f, 0.5f, 0.25f, 0.125f};
    SCORE(estimator, sums, 2, 3, 0, NULL, predictions, NULL, NULL, NULL);
    float flat[] = {0.5f, 0.25f, 0.25f, 0.34f, 0.33f, 0.33f};
    SCORE(estimator, flat, 2, 3, 0, NULL, predictions, NULL, NULL, NULL);
    abstain_free(estimator);

    estimator = loaded("masked.json");
    float masked[] = {1, -INFINITY, 2, -INFINITY, -INFINITY, -INFINITY};
    SCORE(estimator, masked, 2, 3, 0, NULL, predictions, NULL, NULL, NULL);
    abstain_free(estimator);

    estimator = loaded("binary.json");
    SCORE(estimator, rows, 2, 2, 0, NULL, predictions, NULL, NULL, NULL);
    abstain_free(estimator);

    estimator = loaded("confidence.json");
    if (abstain_needs_extra(estimator) || abstain_columns(estimator) != 1)
        printf("a bare confidence is one number\n");
    float bare[] = {0.5f, NAN};
    SCORE(estimator, bare, 2, 1, 0, NULL, predictions, NULL, NULL, NULL);
    SCORE(estimator, bare, 2, 1, 0, NULL, NULL, confidences, values, NULL);
    SCORE(estimator, bare, 2, 1, 0, extra, NULL, confidences, NULL, NULL);
    SCORE(estimator, bare, 2, 1, 0, NULL, NULL, confidences, NULL, accepts);
    abstain_free(estimator);

    estimator = loaded("tolerance.json");
    SCORE(estimator, sums, 1, 3, 0, NULL, predictions, NULL, NULL, NULL);
    abstain_free(estimator);

    estimator = loaded("bare.json");
    SCORE(estimator, rows, 2, 1, 0, NULL, predictions, NULL, NULL, NULL);
    abstain_free(estimator);
    return 0;
}
