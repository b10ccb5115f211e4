/** High water at a harbour, in minutes since midnight. */
final class Tides {
    private final int[] highs;

    Tides(int... highs) {
        this.highs = highs;
    }

    /** The first high water of the day. */
    int first() {
        return highs[0];
    }

    /** The next high water at or after the minute; -1 when the day has none left. */
    int next(int minute) {
        return first();
    }
}
