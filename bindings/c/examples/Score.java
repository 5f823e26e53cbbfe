// Scores rows with an artifact, from Java by JNA (https://github.com/java-native-access/jna):
//
//     javac -cp jna.jar Score.java
//     java -cp jna.jar:. -Djna.library.path=/usr/local/lib Score estimator.json

import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import com.sun.jna.Structure;
import java.util.Locale;

public final class Score {
    /** The functions of abstain.h that are used here; size_t is a long on 64-bit systems. */
    public interface Abstain extends Library {
        Abstain LIBRARY = Native.load("abstain_c", Abstain.class);

        Pointer abstain_load(String path, Failure failure);

        void abstain_free(Pointer estimator);

        String abstain_name(Pointer estimator);

        int abstain_has_threshold(Pointer estimator);

        int abstain_score_f32(
                Pointer estimator,
                float[] rows,
                long rowCount,
                long columns,
                long rowStride,
                double[] extra,
                long[] predictions,
                double[] confidences,
                double[] values,
                byte[] accepts,
                Failure failure);
    }

    /** abstain_error. */
    @Structure.FieldOrder({"code", "row", "column", "value", "message"})
    public static class Failure extends Structure {
        public int code;
        public long row;
        public long column;
        public double value;
        public byte[] message = new byte[992];
    }

    /** An estimator, which several threads can use. */
    static final class Estimator implements AutoCloseable {
        private final Pointer handle;

        Estimator(String path) {
            Failure failure = new Failure();
            handle = Abstain.LIBRARY.abstain_load(path, failure);
            if (handle == null) {
                throw new IllegalArgumentException(Native.toString(failure.message, "UTF-8"));
            }
        }

        String name() {
            return Abstain.LIBRARY.abstain_name(handle);
        }

        boolean hasThreshold() {
            return Abstain.LIBRARY.abstain_has_threshold(handle) == 1;
        }

        /** Scores rows that follow each other; accepts is null without a threshold. */
        void score(
                float[] rows,
                int columns,
                long[] predictions,
                double[] confidences,
                byte[] accepts) {
            Failure failure = new Failure();
            long rowCount = rows.length / columns;
            int code = Abstain.LIBRARY.abstain_score_f32(
                    handle, rows, rowCount, columns, 0, null, predictions, confidences, null,
                    accepts, failure);
            if (code != 0) {
                throw new IllegalArgumentException(Native.toString(failure.message, "UTF-8"));
            }
        }

        @Override
        public void close() {
            Abstain.LIBRARY.abstain_free(handle);
        }
    }

    public static void main(String[] arguments) {
        float[] rows = {4.0f, 1.0f, 0.5f, 2.0f, 1.9f, 0.0f};
        long[] predictions = new long[2];
        double[] confidences = new double[2];
        try (Estimator estimator = new Estimator(arguments[0])) {
            byte[] accepts = estimator.hasThreshold() ? new byte[2] : null;
            estimator.score(rows, 3, predictions, confidences, accepts);
            System.out.println(estimator.name());
            for (int row = 0; row < 2; row++) {
                boolean accept = accepts != null && accepts[row] == 1;
                System.out.printf(Locale.ROOT, "%d %.6f %s%n", predictions[row], confidences[row],
                        accept ? "accept" : "abstain");
            }
        }
    }
}
