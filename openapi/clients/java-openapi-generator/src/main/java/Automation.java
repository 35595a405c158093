import java.util.Map;
import java.util.UUID;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.PlaybooksApi;
import org.openapitools.client.api.TriageApi;
import org.openapitools.client.model.KnownActionType;
import org.openapitools.client.model.Playbook;
import org.openapitools.client.model.PlaybookInput;
import org.openapitools.client.model.PlaybookRun;
import org.openapitools.client.model.PlaybookRunRequest;
import org.openapitools.client.model.PlaybookRunStatus;
import org.openapitools.client.model.PlaybookStepInput;
import org.openapitools.client.model.PlaybookUpdate;
import org.openapitools.client.model.StartedPlaybookRun;
import org.openapitools.client.model.TriageRequest;
import org.openapitools.client.model.TriageRun;
import org.openapitools.client.model.TriageStatus;
import org.openapitools.client.model.TriageVerdict;

final class Automation {
  private final Parties parties;

  Automation(Parties parties) {
    this.parties = parties;
  }

  void triage(String incident) throws ApiException {
    TriageApi api = new TriageApi(parties.analyst());
    TriageRun run = api.triageIncident(incident, null, null, new TriageRequest()).getData();
    Outcome.check(run.getStatus() == TriageStatus.COMPLETED, "the triage is completed");
    TriageVerdict verdict = run.getVerdict();
    double confidence = verdict.getConfidence();
    Outcome.check(confidence >= 0 && confidence <= 1, "the confidence is between 0 and 1");
    Outcome.check(verdict.getClassification() != null, "the incident is classified");
    Outcome.ok("triage");
    Outcome.Refusal refusal =
        Outcome.refused(
            429,
            "rate_limited",
            () -> api.triageIncident(incident, null, null, new TriageRequest()));
    long seconds =
        refusal.answer().getResponseHeaders().firstValueAsLong("retry-after").orElseThrow();
    Outcome.check(seconds >= 1 && seconds <= 60, "it says when to come again");
    Outcome.ok("limited");
  }

  void run(String incident) throws ApiException, InterruptedException {
    PlaybookStepInput step =
        new PlaybookStepInput()
            .name("ticket")
            .action(KnownActionType.CREATE_TICKET)
            .parameters(Map.of("title", "{{ incident.title }}"));
    PlaybookInput body = new PlaybookInput().name("playbook-" + parties.run()).addStepsItem(step);
    String playbook =
        new PlaybooksApi(parties.senior()).createPlaybook(body, null).getData().getId().toString();
    PlaybooksApi api = new PlaybooksApi(parties.analyst());
    PlaybookRunRequest request = new PlaybookRunRequest().incidentId(incident);
    StartedPlaybookRun started =
        api.runPlaybook(playbook, null, request).getData().getStartedPlaybookRun();
    Outcome.ok("run");
    PlaybookRun run = endOf(api, playbook, started.getRunId());
    Outcome.check(run.getStatus() == PlaybookRunStatus.COMPLETED, "the run is completed");
    Outcome.check(run.getSteps().size() == 1, "it has a step");
    Outcome.check(!run.getSteps().get(0).getResult().isEmpty(), "its step has a result");
    Outcome.ok("read the run");
    PlaybookUpdate change = new PlaybookUpdate().description("Opens a ticket.");
    Playbook edited =
        new PlaybooksApi(parties.senior()).updatePlaybook(playbook, change, null).getData();
    Outcome.check("Opens a ticket.".equals(edited.getDescription()), "the playbook is described");
    Outcome.check(edited.getSteps().size() == 1, "it keeps its step");
    Outcome.ok("edit");
  }

  private static PlaybookRun endOf(PlaybooksApi api, String playbook, UUID id)
      throws ApiException, InterruptedException {
    while (true) {
      PlaybookRun run = api.getPlaybookRun(playbook, id).getData();
      if (run.getStatus() != PlaybookRunStatus.RUNNING) return run;
      Thread.sleep(100);
    }
  }
}
