import org.apache.flink.table.functions.ScalarFunction;

/** Asks a service for the price of an order, which takes a millisecond. */
public class Priced extends ScalarFunction {
    public Long eval(Long amount) throws InterruptedException {
        Thread.sleep(1);
        return 2 * amount;
    }

    /** The answer differs from call to call: the planner asks for each order. */
    @Override
    public boolean isDeterministic() {
        return false;
    }
}
