/*
 * Four threads share an estimator and find what one finds, and so does a forked process; the
 * library starts no thread itself.
 */
#include <abstain.h>
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROWS = 700, CLASSES = 37, THREADS = 4, ROUNDS = 20 };

static abstain_estimator *estimator;
static float rows[ROWS][CLASSES];
static int64_t predictions[ROWS];
static double confidences[ROWS];

static abstain_code score(size_t first, size_t n, int64_t *p, double *c, abstain_error *error) {
    return abstain_score_f32(estimator, rows[first], n, CLASSES, 0, NULL, p + first, c + first,
                             NULL, NULL, error);
}

static void *work(void *argument) {
    size_t step = 1 + 31 * (size_t)argument;
    int64_t p[ROWS];
    double c[ROWS];
    abstain_error error;
    for (int round = 0; round < ROUNDS; round++) {
        memset(p, 0, sizeof p);
        memset(c, 0, sizeof c);
        for (size_t first = 0; first < ROWS; first += step) {
            size_t n = first + step < ROWS ? step : ROWS - first;
            if (score(first, n, p, c, &error))
                return "a score failed";
        }
        if (memcmp(p, predictions, sizeof p) || memcmp(c, confidences, sizeof c))
            return "other results";
        /* Errors of one thread are not those of another. */
        if (abstain_score_f32(estimator, rows[0], 1, CLASSES + step, 0, NULL, p, NULL, NULL, NULL,
                              &error) != ABSTAIN_WRONG_COLUMNS)
            return "a wrong number of columns was scored";
        if (score(0, 1, p, c, &error) || error.code != ABSTAIN_OK)
            return "an error stays";
    }
    return NULL;
}

/* The threads of this process, where the system lists them. */
static int threads(void) {
    DIR *tasks = opendir("/proc/self/task");
    int count = 0;
    for (struct dirent *entry; tasks && (entry = readdir(tasks));)
        count += entry->d_name[0] != '.';
    if (tasks)
        closedir(tasks);
    return tasks ? count : 1;
}

int main(int argc, char **argv) {
    abstain_error error;
    estimator = argc == 2 ? abstain_load(argv[1], &error) : NULL;
    if (!estimator)
        return 2;
    uint32_t state = 1;
    for (size_t k = 0; k < ROWS * CLASSES; k++) {
        state = state * 1664525 + 1013904223;
        rows[k / CLASSES][k % CLASSES] = (float)(state >> 8) / (1 << 20);
    }
    if (score(0, ROWS, predictions, confidences, &error)) {
        printf("%s\n", error.message);
        return 1;
    }
    if (threads() != 1) {
        printf("the library started %d threads\n", threads() - 1);
        return 1;
    }
    /* A process that was forked afterwards scores as well. */
    pid_t child = fork();
    if (child == 0)
        _exit(work(NULL) != NULL);
    int status = 1;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
        printf("a forked process ended with %d\n", status);
        return 1;
    }
    pthread_t thread[THREADS];
    for (size_t k = 0; k < THREADS; k++)
        if (pthread_create(&thread[k], NULL, work, (void *)k))
            return 2;
    int failed = 0;
    for (int k = 0; k < THREADS; k++) {
        void *problem;
        pthread_join(thread[k], &problem);
        if (problem) {
            printf("thread %d: %s\n", k, (const char *)problem);
            failed = 1;
        }
    }
    abstain_free(estimator);
    return failed;
}
