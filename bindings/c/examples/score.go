// Scores rows with an artifact, from Go:
//
//	go run score.go estimator.json
package main

// #cgo pkg-config: abstain
// #include <abstain.h>
// #include <stdlib.h>
import "C"

import (
	"errors"
	"fmt"
	"os"
	"unsafe"
)

// Estimator can be used by several goroutines.
type Estimator struct{ handle *C.abstain_estimator }

// Load reads an artifact.
func Load(path string) (*Estimator, error) {
	text := C.CString(path)
	defer C.free(unsafe.Pointer(text))
	var failure C.abstain_error
	handle := C.abstain_load(text, &failure)
	if handle == nil {
		return nil, errors.New(C.GoString(&failure.message[0]))
	}
	return &Estimator{handle}, nil
}

// Close frees the estimator.
func (e *Estimator) Close() { C.abstain_free(e.handle) }

// Scores has an element for each row; Accepts has none without a threshold.
type Scores struct {
	Predictions []int64
	Confidences []float64
	Accepts     []uint8
}

// Score scores rows that follow each other; there must be one at least.
func (e *Estimator) Score(rows []float32, columns int) (*Scores, error) {
	if columns < 1 || len(rows) < columns {
		return nil, errors.New("there are no rows")
	}
	n := len(rows) / columns
	scores := &Scores{make([]int64, n), make([]float64, n), nil}
	var accepts *C.uint8_t
	if C.abstain_has_threshold(e.handle) == 1 {
		scores.Accepts = make([]uint8, n)
		accepts = (*C.uint8_t)(&scores.Accepts[0])
	}
	var failure C.abstain_error
	code := C.abstain_score_f32(e.handle, (*C.float)(&rows[0]), C.size_t(n), C.size_t(columns), 0,
		nil, (*C.int64_t)(&scores.Predictions[0]), (*C.double)(&scores.Confidences[0]), nil,
		accepts, &failure)
	if code != C.ABSTAIN_OK {
		return nil, errors.New(C.GoString(&failure.message[0]))
	}
	return scores, nil
}

func run() error {
	if len(os.Args) != 2 {
		return errors.New("usage: score ARTIFACT")
	}
	estimator, err := Load(os.Args[1])
	if err != nil {
		return err
	}
	defer estimator.Close()
	fmt.Println(C.GoString(C.abstain_name(estimator.handle)))
	scores, err := estimator.Score([]float32{4.0, 1.0, 0.5, 2.0, 1.9, 0.0}, 3)
	if err != nil {
		return err
	}
	for row, prediction := range scores.Predictions {
		decision := "abstain"
		if scores.Accepts != nil && scores.Accepts[row] == 1 {
			decision = "accept"
		}
		fmt.Printf("%d %.6f %s\n", prediction, scores.Confidences[row], decision)
	}
	return nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
