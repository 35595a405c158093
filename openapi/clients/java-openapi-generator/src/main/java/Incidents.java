import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.openapitools.client.ApiException;
import org.openapitools.client.ApiResponse;
import org.openapitools.client.api.IncidentsApi;
import org.openapitools.client.model.IncidentEnvelope;
import org.openapitools.client.model.IncidentInput;
import org.openapitools.client.model.IncidentSort;
import org.openapitools.client.model.IncidentStatus;
import org.openapitools.client.model.IncidentSummaryList;
import org.openapitools.client.model.IncidentUpdate;
import org.openapitools.client.model.Severity;

final class Incidents {
  private final String run;
  private final IncidentsApi api;

  Incidents(Parties parties) {
    run = parties.run();
    api = new IncidentsApi(parties.analyst());
  }

  private IncidentInput phishing(Map<String, Object> rawData) {
    return new IncidentInput()
        .incidentType("phishing")
        .source(run)
        .severity(Severity.HIGH)
        .rawData(rawData);
  }

  UUID create() throws ApiException {
    IncidentInput body = phishing(Map.of("sender", "ceo@example.com", "subject", "Urgent"));
    UUID first = api.createIncident(body, "first-" + run).getData().getId();
    UUID again = api.createIncident(body, "first-" + run).getData().getId();
    Outcome.check(first.equals(again), "an Idempotency-Key makes one incident");
    api.createIncident(body, null);
    Outcome.ok("create");
    return first;
  }

  void list(UUID first) throws ApiException {
    IncidentSummaryList newest = page(1);
    Outcome.check(newest.getMeta().getTotal() == 2, "two incidents are of this source");
    Outcome.check(newest.getData().size() == 1, "one is on a page");
    Outcome.check(!first.equals(newest.getData().get(0).getId()), "the newest one is first");
    Outcome.ok("list");
    IncidentSummaryList next = page(2);
    Outcome.check(first.equals(next.getData().get(0).getId()), "the first one is on the next page");
    Outcome.ok("next page");
  }

  private IncidentSummaryList page(int page) throws ApiException {
    return api.listIncidents(
        page,
        1,
        List.of(IncidentStatus.OPEN, IncidentStatus.TRIAGED),
        List.of(Severity.HIGH, Severity.CRITICAL),
        null,
        run,
        null,
        null,
        null,
        null,
        null,
        null,
        null,
        Set.of(IncidentSort.CreatedAtDesc));
  }

  void update(String incident) throws ApiException {
    ApiResponse<IncidentEnvelope> read = api.getIncidentWithHttpInfo(incident);
    String etag = read.getHeaders().get("etag").get(0);
    IncidentUpdate raise = new IncidentUpdate().severity(Severity.CRITICAL);
    IncidentEnvelope raised = api.updateIncident(incident, raise, etag);
    Outcome.check(raised.getData().getSeverity() == Severity.CRITICAL, "the incident is critical");
    Outcome.ok("update");
    IncidentUpdate lower = new IncidentUpdate().severity(Severity.LOW);
    Outcome.refused(412, "precondition_failed", () -> api.updateIncident(incident, lower, etag));
    Severity kept = api.getIncident(incident).getData().getSeverity();
    Outcome.check(kept == Severity.CRITICAL, "the incident stays as it is");
    Outcome.ok("stale");
  }

  void invalid() throws ApiException {
    IncidentInput body = phishing(Map.of("received_at", "yesterday"));
    Outcome.Refusal refusal =
        Outcome.refused(422, "validation_error", () -> api.createIncident(body, null));
    Outcome.check(
        refusal.error().getDetails().getErrors().stream()
            .anyMatch(error -> "raw_data.received_at".equals(error.getField())),
        "the details name raw_data.received_at");
    Outcome.ok("invalid");
  }
}
