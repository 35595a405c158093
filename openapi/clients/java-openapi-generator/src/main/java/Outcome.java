import com.fasterxml.jackson.core.JsonProcessingException;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.model.ErrorEnvelope;
import org.openapitools.client.model.ErrorObject;

/** What an answer has to be, or the scenario ends. */
final class Outcome {

  /** A request. */
  interface Call {
    Object make() throws ApiException;
  }

  record Refusal(ErrorObject error, ApiException answer) {}

  private Outcome() {}

  static void ok(String step) {
    System.out.println("ok " + step);
  }

  static void check(boolean holds, String what) {
    if (!holds) throw new AssertionError("not so: " + what);
  }

  /** What a refusal tells; the client throws it. */
  static Refusal refused(int status, String code, Call call) throws ApiException {
    try {
      throw new AssertionError("instead of " + code + ": " + call.make());
    } catch (ApiException refusal) {
      if (refusal.getCode() != status) throw refusal;
      ErrorObject error = read(refusal).getError();
      check(code.equals(String.valueOf(error.getCode())), error.getCode() + " is " + code);
      return new Refusal(error, refusal);
    }
  }

  private static ErrorEnvelope read(ApiException refusal) {
    try {
      return ApiClient.createDefaultObjectMapper()
          .readValue(refusal.getResponseBody(), ErrorEnvelope.class);
    } catch (JsonProcessingException error) {
      throw new AssertionError("not an error as typed: " + refusal.getResponseBody(), error);
    }
  }
}
