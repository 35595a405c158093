import java.util.Map;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.AccessApi;
import org.openapitools.client.model.ApiKeyInput;
import org.openapitools.client.model.ApiKeyLimits;
import org.openapitools.client.model.Role;

/** Who takes part: the administrator makes the keys of the other two; a stranger has none. */
record Parties(ApiClient admin, ApiClient analyst, ApiClient senior, ApiClient stranger, String run) {

  static Parties of(Map<String, String> environment) throws ApiException {
    String url = environment.get("SERVICE_URL");
    String run = environment.get("RUN");
    ApiClient admin = connect(url, environment.get("ADMIN_KEY"));
    String analyst = newKey(admin, run, Role.ANALYST, new ApiKeyLimits().triage(1));
    String senior = newKey(admin, run, Role.SENIOR, null);
    Outcome.ok("key");
    return new Parties(admin, connect(url, analyst), connect(url, senior), stranger(url), run);
  }

  private static String newKey(ApiClient admin, String run, Role role, ApiKeyLimits limits)
      throws ApiException {
    ApiKeyInput key = new ApiKeyInput().name(role + "-" + run).role(role).limits(limits);
    return new AccessApi(admin).createApiKey(key, null).getData().getKey();
  }

  private static ApiClient stranger(String url) {
    ApiClient client = new ApiClient();
    client.updateBaseUri(url);
    return client;
  }

  private static ApiClient connect(String url, String key) {
    return stranger(url)
        .setRequestInterceptor(request -> request.header("Authorization", "Bearer " + key));
  }
}
