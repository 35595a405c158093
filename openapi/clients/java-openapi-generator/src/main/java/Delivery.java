import com.fasterxml.jackson.core.JsonProcessingException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Instant;
import java.util.HexFormat;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.IncidentsApi;
import org.openapitools.client.api.WebhooksApi;
import org.openapitools.client.model.AcceptedReceipt;
import org.openapitools.client.model.Incident;
import org.openapitools.client.model.WebhookSourceInput;

final class Delivery {
  private final Parties parties;

  Delivery(Parties parties) {
    this.parties = parties;
  }

  void deliver() throws ApiException, GeneralSecurityException, JsonProcessingException {
    String source = parties.run();
    String secret = source + "-is-no-word-of-a-list";
    new WebhooksApi(parties.admin())
        .createWebhookSource(new WebhookSourceInput().source(source).secret(secret), null);
    Map<String, Object> event =
        Map.of(
            "event_type", "malware", "data", Map.of("alert_id", "alert-4711", "severity", "high"));
    String time = String.valueOf(Instant.now().getEpochSecond());
    // The client writes bodies with this mapper: these are the bytes that it sends.
    String body = ApiClient.createDefaultObjectMapper().writeValueAsString(event);
    String signature = "sha256=" + hmac(secret, time + "." + body);
    AcceptedReceipt receipt =
        new WebhooksApi(parties.stranger())
            .receiveWebhook(source, event, signature, time, null, null, null, null)
            .getAcceptedReceipt();
    Incident incident =
        new IncidentsApi(parties.analyst()).getIncident(receipt.getIncidentId().toString()).getData();
    Outcome.check(source.equals(incident.getSource()), "the incident is of the source");
    Outcome.check(event.equals(incident.getRawData()), "the event is kept as it was sent");
    Outcome.ok("receipt");
  }

  private static String hmac(String secret, String text) throws GeneralSecurityException {
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
    return HexFormat.of().formatHex(mac.doFinal(text.getBytes(StandardCharsets.UTF_8)));
  }
}
