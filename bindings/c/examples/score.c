/*
 * Scores lines of numbers from standard input with an artifact:
 *
 *     cc score.c $(pkg-config --cflags --libs abstain) -o score
 *     printf '4.0 1.0 0.5\n2.0 1.9 0.0\n' | ./score estimator.json
 */
#include <abstain.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: score ARTIFACT < ROWS\n");
        return 2;
    }
    abstain_error error;
    abstain_estimator *estimator = abstain_load(argv[1], &error);
    if (!estimator) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    size_t columns = abstain_columns(estimator);
    if (columns < 2 || abstain_needs_extra(estimator)) {
        fprintf(stderr, "this example needs an artifact of rows with a number for each class\n");
        abstain_free(estimator);
        return 1;
    }
    fprintf(stderr, "%s, %zu classes, %s\n", abstain_name(estimator), abstain_classes(estimator),
            abstain_has_threshold(estimator) ? "with a threshold" : "without a threshold");

    float *row = malloc(columns * sizeof *row);
    int status = row ? 0 : 1;
    for (size_t column = 0; row && scanf("%f", &row[column]) == 1;) {
        if (++column < columns)
            continue;
        column = 0;
        int64_t prediction;
        double confidence;
        uint8_t accept = 0;
        /* Without a threshold, rows are neither accepted nor not. */
        uint8_t *accepts = abstain_has_threshold(estimator) ? &accept : NULL;
        if (abstain_score_f32(estimator, row, 1, columns, 0, NULL, &prediction, &confidence, NULL,
                              accepts, &error)) {
            fprintf(stderr, "%s\n", error.message);
            status = 1;
            break;
        }
        const char *name = abstain_class_name(estimator, (size_t)prediction);
        if (name)
            printf("%s", name);
        else
            printf("%" PRId64, prediction);
        printf(" %.6f %s\n", confidence, accept ? "accept" : "abstain");
    }
    free(row);
    abstain_free(estimator);
    return status;
}
