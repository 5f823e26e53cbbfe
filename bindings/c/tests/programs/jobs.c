/*
 * Scores the rows of each job that standard input describes, and prints the bits of the results.
 *
 * A job is a line: artifact, type, rows, columns, stride, the arrays to write as letters ("pcva"),
 * and whether there is an extra column; then all numbers in hexadecimal, those between the rows
 * too. The answer is a line with code, row and column of the error, and if there is none, a line
 * for each row.
 */
#include <abstain.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* By turns from the file and from memory. */
static abstain_estimator *load(const char *path, int from_memory, abstain_error *error) {
    if (!from_memory)
        return abstain_load(path, error);
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END))
        exit(3);
    size_t size = (size_t)ftell(file);
    rewind(file);
    char *json = malloc(size);
    if (!json || fread(json, 1, size, file) != size)
        exit(3);
    fclose(file);
    abstain_estimator *estimator = abstain_load_memory(json, size, error);
    free(json);
    return estimator;
}

int main(void) {
    char path[4096], type[8], wanted[8];
    size_t rows, columns, stride;
    int has_extra;
    for (int job = 0; scanf("%4095s %7s %zu %zu %zu %7s %d", path, type, &rows, &columns, &stride,
                            wanted, &has_extra) == 7;
         job++) {
        size_t width = strcmp(type, "f64") == 0 ? 8 : strcmp(type, "f32") == 0 ? 4 : 2;
        size_t span = rows ? (rows - 1) * stride + columns : 0;
        /* Arrays are exactly as long as they must be, so that a checker of memory sees more. */
        char *numbers = malloc(span * width);
        for (size_t k = 0; k < span; k++) {
            uint64_t bits;
            if (scanf("%" SCNx64, &bits) != 1)
                return 3;
            uint32_t bits32 = (uint32_t)bits;
            uint16_t bits16 = (uint16_t)bits;
            const void *number = width == 8   ? (const void *)&bits
                                 : width == 4 ? (const void *)&bits32
                                              : (const void *)&bits16;
            memcpy(numbers + k * width, number, width);
        }
        double *extra = has_extra ? malloc(rows * sizeof *extra) : NULL;
        for (size_t k = 0; extra && k < rows; k++) {
            uint64_t bits;
            if (scanf("%" SCNx64, &bits) != 1)
                return 3;
            memcpy(&extra[k], &bits, sizeof bits);
        }
        int64_t *predictions = strchr(wanted, 'p') ? malloc(rows * sizeof *predictions) : NULL;
        double *confidences = strchr(wanted, 'c') ? malloc(rows * sizeof *confidences) : NULL;
        double *values = strchr(wanted, 'v') ? malloc(rows * sizeof *values) : NULL;
        uint8_t *accepts = strchr(wanted, 'a') ? malloc(rows) : NULL;
        abstain_error error;
        abstain_estimator *estimator = load(path, job % 2, &error);
#define SCORE(type)                                                                               \
    abstain_score_##type(estimator, (const void *)numbers, rows, columns, stride, extra,          \
                         predictions, confidences, values, accepts, &error)
        if (estimator && width == 8)
            SCORE(f64);
        else if (estimator && width == 4)
            SCORE(f32);
        else if (estimator && strcmp(type, "f16") == 0)
            SCORE(f16);
        else if (estimator)
            SCORE(bf16);
        printf("%d %" PRId64 " %" PRId64 "\n", (int)error.code, error.row, error.column);
        for (size_t k = 0; error.code == ABSTAIN_OK && k < rows; k++)
            printf("%" PRId64 " %016" PRIx64 " %016" PRIx64 " %d\n",
                   predictions ? predictions[k] : -1, confidences ? bits_of(confidences[k]) : 0,
                   values ? bits_of(values[k]) : 0, accepts ? accepts[k] : -1);
        abstain_free(estimator);
        free(numbers);
        free(extra);
        free(predictions);
        free(confidences);
        free(values);
        free(accepts);
    }
    return 0;
}
