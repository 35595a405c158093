import org.openapitools.client.ApiException;
import org.openapitools.client.ApiResponse;
import org.openapitools.client.api.ActionsApi;
import org.openapitools.client.api.ApprovalsApi;
import org.openapitools.client.model.ActionApproval;
import org.openapitools.client.model.ActionRequest;
import org.openapitools.client.model.ActionRollback;
import org.openapitools.client.model.ActionStatus;
import org.openapitools.client.model.ApprovalLevel;
import org.openapitools.client.model.ApprovedAction;
import org.openapitools.client.model.ExecutedAction;
import org.openapitools.client.model.ExecutedActionEnvelope;
import org.openapitools.client.model.IsolateHostParameters;
import org.openapitools.client.model.IsolateHostRequest;
import org.openapitools.client.model.RequiredLevel;
import org.openapitools.client.model.RolledBackAction;

final class Actions {
  private final Parties parties;

  Actions(Parties parties) {
    this.parties = parties;
  }

  void contain(String incident) throws ApiException {
    String action = execute(incident);
    approve(action);
    rollBack(action);
  }

  private String execute(String incident) throws ApiException {
    IsolateHostRequest request =
        new IsolateHostRequest()
            .action(IsolateHostRequest.ActionEnum.ISOLATE_HOST)
            .parameters(
                new IsolateHostParameters().hostId("ws-0042").reason("Mimikatz was seen"));
    ActionRequest body = new ActionRequest(request);
    ApiResponse<ExecutedActionEnvelope> answer =
        new ActionsApi(parties.analyst())
            .executeIncidentActionWithHttpInfo(incident, body, null);
    ExecutedAction asked = answer.getData().getData();
    Outcome.check(answer.getStatusCode() == 202, "it waits");
    Outcome.check(asked.getStatus() == ActionStatus.PENDING_APPROVAL, "it waits for approval");
    Outcome.check(asked.getApprovalLevel() == RequiredLevel.SENIOR, "it is for a senior");
    Outcome.ok("execute");
    return asked.getActionId();
  }

  private void approve(String action) throws ApiException {
    ActionApproval body = new ActionApproval().comment("The host is a laptop");
    ApprovalsApi low = new ApprovalsApi(parties.analyst());
    Outcome.Refusal refusal =
        Outcome.refused(
            403, "insufficient_approval_level", () -> low.approveAction(action, null, body));
    Outcome.check(
        refusal.error().getYourLevel() == ApprovalLevel.ANALYST, "the analyst's level is told");
    ApprovedAction approved =
        new ApprovalsApi(parties.senior()).approveAction(action, null, body).getData();
    Outcome.check(approved.getStatus() == ActionStatus.COMPLETED, "it is completed");
    Outcome.check(approved.getResult().getSuccess(), "it succeeded");
    Outcome.check(approved.getResult().getMessage().contains("[sandbox]"), "the sandbox did it");
    Outcome.ok("approve");
  }

  private void rollBack(String action) throws ApiException {
    ActionsApi api = new ActionsApi(parties.senior());
    ActionRollback body = new ActionRollback().reason("A false alarm");
    RolledBackAction undone = api.rollBackAction(action, body, null).getData();
    Outcome.check(undone.getStatus() == ActionStatus.COMPLETED, "the rollback is completed");
    Outcome.check(
        !undone.getRollbackActionId().equals(action), "the rollback is an action of its own");
    Outcome.ok("roll back");
    Outcome.refused(409, "invalid_state", () -> api.rollBackAction(action, body, null));
    Outcome.ok("conflict");
  }
}
