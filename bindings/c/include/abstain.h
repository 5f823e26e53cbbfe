/*
 * abstain: scores the outputs of a classifier with an artifact of `abstain tune`.
 *
 *     abstain_error error;
 *     abstain_estimator *estimator = abstain_load("estimator.json", &error);
 *     if (!estimator) { fprintf(stderr, "%s\n", error.message); return 1; }
 *
 *     int64_t predictions[ROWS];
 *     double confidences[ROWS];
 *     if (abstain_score_f32(estimator, logits, ROWS, CLASSES, 0, NULL,
 *                           predictions, confidences, NULL, NULL, &error))
 *         fprintf(stderr, "%s\n", error.message);
 *     abstain_free(estimator);
 *
 * Ownership. The only thing to free is an estimator, with abstain_free. Texts that a function
 * returns belong to the estimator and are valid until it is freed. All other memory is of the
 * caller.
 *
 * Threads. An estimator never changes after it is loaded: any number of threads may use one at the
 * same time, each with its arrays and its abstain_error. abstain_free must not be called while
 * another thread uses the estimator. No function starts threads, keeps state between calls, or
 * prints, except that a bug in the library (ABSTAIN_INTERNAL) is described on standard error.
 *
 * Errors. Functions that can fail take a pointer to an abstain_error, which may be NULL. What they
 * can check of their arguments, they check: null pointers, alignment, sizes and overlapping arrays
 * give ABSTAIN_INVALID_ARGUMENT. That pointers point to as much memory as the sizes say, and that
 * an estimator is not used after it was freed, they cannot check.
 *
 * Texts are UTF-8 and end with a zero byte. Rows, columns and classes count from 0.
 */
#ifndef ABSTAIN_H
#define ABSTAIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. It rises when a program must be compiled anew. */
#define ABSTAIN_ABI_VERSION 1

/* What a function returns, and the code of an abstain_error. Later versions may add codes. */
typedef int32_t abstain_code;

enum {
    /* No error. */
    ABSTAIN_OK = 0,
    /* An argument is wrong: a null or misaligned pointer, a stride, arrays that overlap, or an
     * array that does not fit the estimator. */
    ABSTAIN_INVALID_ARGUMENT = 1,
    /* A file cannot be read. */
    ABSTAIN_CANNOT_READ = 2,
    /* A file or text is not a valid artifact, or one of a later version. */
    ABSTAIN_INVALID_ARTIFACT = 3,
    /* The rows have another number of columns than the estimator takes. */
    ABSTAIN_WRONG_COLUMNS = 4,
    /* A row cannot be scored; the error names it. */
    ABSTAIN_INVALID_ROW = 5,
    /* Acceptance was requested, and the artifact has no threshold. */
    ABSTAIN_NO_THRESHOLD = 6,
    /* The artifact was made for another classifier. */
    ABSTAIN_OTHER_MODEL = 7,
    /* A bug in the library. Other calls are not affected. */
    ABSTAIN_INTERNAL = 8
};

#define ABSTAIN_MESSAGE_SIZE 992

/*
 * An error, in memory of the caller. A function that takes one fills it in every case; it need not
 * be initialised before, and nothing in it is freed.
 */
typedef struct abstain_error {
    /* ABSTAIN_OK if there was no error. */
    abstain_code code;
    /* The row that is wrong, or -1. */
    int64_t row;
    /* The column that is wrong, or -1. */
    int64_t column;
    /* The number that is wrong, or NaN. */
    double value;
    /* What is wrong, where, and what to do about it: one line without a line break. It is empty if
     * there was no error. The middle of a text that is too long is left out. */
    char message[ABSTAIN_MESSAGE_SIZE];
} abstain_error;

/* An estimator with its threshold: what an artifact holds. */
typedef struct abstain_estimator abstain_estimator;

/* ---- The library ---- */

/* The version of the interface that the library has. A program that loads the library at run time
 * compares it with ABSTAIN_ABI_VERSION. */
uint32_t abstain_abi_version(void);

/* The version of the library, such as "0.1.0". */
const char *abstain_version(void);

/* ---- Loading ---- */

/*
 * Reads an artifact from a file. Returns NULL if that fails: ABSTAIN_CANNOT_READ,
 * ABSTAIN_INVALID_ARTIFACT or ABSTAIN_INVALID_ARGUMENT. On Windows the path is UTF-8.
 *
 * A bare estimator such as {"method": "MaxLogit-pNorm", "p": 5} is read too. Its rows are logits of
 * any number of classes, and it has no threshold. An artifact with several thresholds, by class or
 * by group, is refused.
 */
abstain_estimator *abstain_load(const char *path, abstain_error *error);

/* The same from `size` bytes of JSON in memory. They are not needed afterwards. */
abstain_estimator *abstain_load_memory(const char *json, size_t size, abstain_error *error);

/* Frees an estimator, and the texts that were obtained from it. NULL is allowed. */
void abstain_free(abstain_estimator *estimator);

/* ---- What is known of an estimator. These functions cannot fail; of NULL they return 0, NaN or
 *      NULL. ---- */

/* The number of classes; 0 if any number is allowed. */
size_t abstain_classes(const abstain_estimator *estimator);

/* How many numbers a row must have: as many as classes, or 1 for the encodings
 * "binary-probability", "binary-logit" and "confidence"; 0 if any number from 2 on is allowed. */
size_t abstain_columns(const abstain_estimator *estimator);

/* What the numbers of a row are: "logits", "masked", "probabilities", "binary-probability",
 * "binary-logit" or "confidence". */
const char *abstain_input(const abstain_estimator *estimator);

/* The estimator by name and parameters, such as "MaxLogit-pNorm(p=5)" or "Stack". */
const char *abstain_name(const abstain_estimator *estimator);

/* The name and the version of the classifier that it is for; NULL if the artifact does not state
 * them. */
const char *abstain_model_name(const abstain_estimator *estimator);
const char *abstain_model_version(const abstain_estimator *estimator);

/* The name of a class; NULL if the artifact has no names, or not so many classes. */
const char *abstain_class_name(const abstain_estimator *estimator, size_t index);

/* 1 if there is a threshold, and 0 otherwise. */
int abstain_has_threshold(const abstain_estimator *estimator);

/* The threshold: rows with a confidence at or above it are accepted. NaN if there is none. It may
 * be infinite. */
double abstain_threshold(const abstain_estimator *estimator);

/* 1 if each row needs a further number, the extra column, and 0 otherwise. */
int abstain_needs_extra(const abstain_estimator *estimator);

/* 1 if the values of a score are probabilities that the prediction is right, and 0 if they are on
 * another scale. */
int abstain_values_are_probabilities(const abstain_estimator *estimator);

/*
 * Checks that the artifact is for a classifier, which is "NAME" or "NAME@VERSION". Returns
 * ABSTAIN_OK, ABSTAIN_OTHER_MODEL or ABSTAIN_INVALID_ARGUMENT. An artifact that does not name its
 * classifier is for any; versions are compared where both state one.
 */
abstain_code abstain_check_model(const abstain_estimator *estimator, const char *model,
                                 abstain_error *error);

/* ---- Scoring ---- */

/*
 * Scores rows, on the calling thread, with the results of `abstain score`, bit for bit.
 *
 * What is read:
 *
 * rows         the numbers, row by row, in single, double, IEEE half (f16) or brain (bf16)
 *              precision; the latter two as their bits. NULL is allowed if there are no rows
 * n_rows       how many rows there are; with 0, only the other arguments are checked
 * n_columns    how many numbers a row has: abstain_columns, unless that is 0
 * row_stride   how many numbers lie between the beginnings of two rows, n_columns at least; 0
 *              stands for n_columns. Nothing is read beyond the last column of the last row
 * extra        one further number of each row if abstain_needs_extra, and NULL otherwise
 *
 * What is written: arrays of one element for each row. NULL stands for one that is not needed; not
 * all of them may be NULL.
 *
 * predictions  the predicted classes. Must be NULL for the encoding "confidence", which has none
 * confidences  the confidences on the scale of the threshold; higher is surer. They may be infinite
 * values       the confidences on the scale of the estimator's formula: probabilities that the
 *              prediction is right, if abstain_values_are_probabilities. Must be NULL for the
 *              encoding "confidence"
 * accepts      1 if the confidence is at or above the threshold, and 0 otherwise. Must be NULL if
 *              there is no threshold (ABSTAIN_NO_THRESHOLD)
 *
 * No array that is written may overlap another one. After an error these arrays hold unspecified
 * numbers. Memory is allocated for pieces of up to 64 rows, not for each row; only GEN, CMD and
 * LogitGap, which sort the classes, allocate some for each row as well.
 *
 * Returns ABSTAIN_OK, ABSTAIN_INVALID_ARGUMENT, ABSTAIN_WRONG_COLUMNS, ABSTAIN_INVALID_ROW,
 * ABSTAIN_NO_THRESHOLD, ABSTAIN_INVALID_ARTIFACT or ABSTAIN_INTERNAL.
 */
abstain_code abstain_score_f32(const abstain_estimator *estimator, const float *rows,
                               size_t n_rows, size_t n_columns, size_t row_stride,
                               const double *extra, int64_t *predictions,
                               double *confidences, double *values, uint8_t *accepts,
                               abstain_error *error);
abstain_code abstain_score_f64(const abstain_estimator *estimator, const double *rows,
                               size_t n_rows, size_t n_columns, size_t row_stride,
                               const double *extra, int64_t *predictions,
                               double *confidences, double *values, uint8_t *accepts,
                               abstain_error *error);
abstain_code abstain_score_f16(const abstain_estimator *estimator, const uint16_t *rows,
                               size_t n_rows, size_t n_columns, size_t row_stride,
                               const double *extra, int64_t *predictions,
                               double *confidences, double *values, uint8_t *accepts,
                               abstain_error *error);
abstain_code abstain_score_bf16(const abstain_estimator *estimator, const uint16_t *rows,
                                size_t n_rows, size_t n_columns, size_t row_stride,
                                const double *extra, int64_t *predictions,
                                double *confidences, double *values, uint8_t *accepts,
                                abstain_error *error);

#ifdef __cplusplus
}
#endif

#endif
