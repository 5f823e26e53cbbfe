/* What abstain.h declares is what the library has: sizes, places, codes, and every function. */
#include <abstain.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

_Static_assert(sizeof(abstain_code) == 4, "code");
_Static_assert(sizeof(abstain_error) == 1024, "error");
_Static_assert(offsetof(abstain_error, code) == 0, "code");
_Static_assert(offsetof(abstain_error, row) == 8, "row");
_Static_assert(offsetof(abstain_error, column) == 16, "column");
_Static_assert(offsetof(abstain_error, value) == 24, "value");
_Static_assert(offsetof(abstain_error, message) == 32, "message");
_Static_assert(ABSTAIN_OK == 0 && ABSTAIN_INVALID_ARGUMENT == 1 && ABSTAIN_CANNOT_READ == 2 &&
                   ABSTAIN_INVALID_ARTIFACT == 3 && ABSTAIN_WRONG_COLUMNS == 4 &&
                   ABSTAIN_INVALID_ROW == 5 && ABSTAIN_NO_THRESHOLD == 6 &&
                   ABSTAIN_OTHER_MODEL == 7 && ABSTAIN_INTERNAL == 8,
               "codes");

static int failures = 0;

static void check(int holds, const char *what, int line) {
    if (!holds) {
        printf("line %d: %s\n", line, what);
        failures++;
    }
}
#define CHECK(holds) check((holds), #holds, __LINE__)

static const char json[] =
    "{\"format\": \"abstain-estimator\", \"version\": 1, \"written_by\": \"a test\","
    " \"estimator\": {\"method\": \"MSP\"},"
    " \"model\": {\"name\": \"resnet50\", \"version\": \"v2\"},"
    " \"classes\": 3, \"class_names\": [\"cat\", \"dog\", \"K\\u00e4fer\"],"
    " \"input\": {\"kind\": \"logits\"}, \"threshold\": {\"basis\": \"given\", \"at\": 1.5},"
    " \"tuning\": null}";

int main(void) {
    CHECK(abstain_abi_version() == ABSTAIN_ABI_VERSION);
    CHECK(strcmp(abstain_version(), VERSION) == 0);

    abstain_error error;
    memset(&error, 0x55, sizeof error);
    abstain_estimator *estimator = abstain_load_memory(json, sizeof json - 1, &error);
    CHECK(estimator != NULL);
    CHECK(error.code == ABSTAIN_OK && error.row == -1 && error.column == -1);
    CHECK(isnan(error.value) && error.message[0] == 0);
    if (!estimator)
        return 1;

    CHECK(abstain_classes(estimator) == 3);
    CHECK(abstain_columns(estimator) == 3);
    CHECK(strcmp(abstain_input(estimator), "logits") == 0);
    CHECK(strcmp(abstain_name(estimator), "MSP") == 0);
    CHECK(strcmp(abstain_model_name(estimator), "resnet50") == 0);
    CHECK(strcmp(abstain_model_version(estimator), "v2") == 0);
    CHECK(strcmp(abstain_class_name(estimator, 2), "K\xc3\xa4" "fer") == 0);
    CHECK(abstain_class_name(estimator, 3) == NULL);
    CHECK(abstain_has_threshold(estimator) == 1);
    CHECK(abstain_threshold(estimator) == 1.5);
    CHECK(abstain_needs_extra(estimator) == 0);
    CHECK(abstain_values_are_probabilities(estimator) == 1);
    CHECK(abstain_check_model(estimator, "resnet50", NULL) == ABSTAIN_OK);
    CHECK(abstain_check_model(estimator, "resnet50@v2", &error) == ABSTAIN_OK);
    CHECK(abstain_check_model(estimator, "resnet50@v3", &error) == ABSTAIN_OTHER_MODEL);

    /* The same rows in every type; two numbers of padding after each row but the last. */
    const float single[] = {4, 1, 0.5, -1, -1, 2, 3, 1.5};
    const double wide[] = {4, 1, 0.5, -1, -1, 2, 3, 1.5};
    const uint16_t half[] = {0x4400, 0x3c00, 0x3800, 0xbc00, 0xbc00, 0x4000, 0x4200, 0x3e00};
    const uint16_t brain[] = {0x4080, 0x3f80, 0x3f00, 0xbf80, 0xbf80, 0x4000, 0x4040, 0x3fc0};
    for (int type = 0; type < 4; type++) {
        int64_t predictions[2] = {-7, -7};
        double confidences[2] = {0, 0}, values[2] = {0, 0};
        uint8_t accepts[2] = {7, 7};
        abstain_code code = -1;
        if (type == 0)
            code = abstain_score_f32(estimator, single, 2, 3, 5, NULL, predictions, confidences,
                                     values, accepts, &error);
        if (type == 1)
            code = abstain_score_f64(estimator, wide, 2, 3, 5, NULL, predictions, confidences,
                                     values, accepts, &error);
        if (type == 2)
            code = abstain_score_f16(estimator, half, 2, 3, 5, NULL, predictions, confidences,
                                     values, accepts, &error);
        if (type == 3)
            code = abstain_score_bf16(estimator, brain, 2, 3, 5, NULL, predictions, confidences,
                                      values, accepts, &error);
        CHECK(code == ABSTAIN_OK && error.code == ABSTAIN_OK);
        CHECK(predictions[0] == 0 && predictions[1] == 1);
        CHECK(accepts[0] == 1 && accepts[1] == 0);
        for (int row = 0; row < 2; row++) {
            const double *z = wide + 5 * row;
            double sum = exp(z[0]) + exp(z[1]) + exp(z[2]), top = exp(z[predictions[row]]);
            CHECK(fabs(values[row] - top / sum) < 1e-11);
            CHECK(fabs(confidences[row] - log(top / (sum - top))) < 1e-11);
        }
    }
    abstain_free(estimator);
    abstain_free(NULL);

    /* A bare estimator knows little. */
    const char bare[] = "{\"method\": \"MaxLogit-pNorm\", \"p\": 5}";
    estimator = abstain_load_memory(bare, strlen(bare), NULL);
    CHECK(estimator != NULL);
    CHECK(abstain_classes(estimator) == 0 && abstain_columns(estimator) == 0);
    CHECK(strcmp(abstain_name(estimator), "MaxLogit-pNorm(p=5)") == 0);
    CHECK(abstain_model_name(estimator) == NULL && abstain_model_version(estimator) == NULL);
    CHECK(abstain_class_name(estimator, 0) == NULL);
    CHECK(abstain_has_threshold(estimator) == 0 && isnan(abstain_threshold(estimator)));
    CHECK(abstain_values_are_probabilities(estimator) == 0);
    CHECK(abstain_check_model(estimator, "anything", NULL) == ABSTAIN_OK);
    abstain_free(estimator);

    /* Of nothing, nothing is known. */
    CHECK(abstain_classes(NULL) == 0 && abstain_columns(NULL) == 0);
    CHECK(abstain_input(NULL) == NULL && abstain_name(NULL) == NULL);
    CHECK(abstain_model_name(NULL) == NULL && abstain_model_version(NULL) == NULL);
    CHECK(abstain_class_name(NULL, 0) == NULL);
    CHECK(abstain_has_threshold(NULL) == 0 && isnan(abstain_threshold(NULL)));
    CHECK(abstain_needs_extra(NULL) == 0 && abstain_values_are_probabilities(NULL) == 0);
    CHECK(abstain_load("no such file", NULL) == NULL);
    return failures > 0;
}
