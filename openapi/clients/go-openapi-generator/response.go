package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"time"

	openapi "github.com/GIT_USER_ID/GIT_REPO_ID"
)

func actions(analyst, senior *openapi.APIClient, incident openapi.Incident) {
	parameters := openapi.NewIsolateHostParameters("WS-0142")
	parameters.SetReason("It talks to a known address.")
	isolation := openapi.NewIsolateHostRequest("isolate_host", *parameters)
	waiting := must(analyst.ActionsAPI.ExecuteIncidentAction(ctx, incident.Id).
		ActionRequest(openapi.IsolateHostRequestAsActionRequest(isolation)).Execute()).Data
	check(waiting.Status == openapi.ACTIONSTATUS_PENDING_APPROVAL, "status %s", waiting.Status)
	check(waiting.GetApprovalLevel() == openapi.REQUIREDLEVEL_SENIOR, "level %s", waiting.GetApprovalLevel())
	ok("execute")

	comment := openapi.ActionApproval{Comment: openapi.PtrString("Confirmed with the owner of the host.")}
	low := refused(analyst.ApprovalsAPI.ApproveAction(ctx, waiting.ActionId).
		ActionApproval(comment).Execute())(403, "insufficient_approval_level")
	check(low.GetYourLevel() == openapi.APPROVALLEVEL_ANALYST, "level %s", low.GetYourLevel())
	approved := must(senior.ApprovalsAPI.ApproveAction(ctx, waiting.ActionId).ActionApproval(comment).Execute()).Data
	check(approved.Status == openapi.ACTIONSTATUS_COMPLETED, "status %s", approved.Status)
	check(approved.Result.GetSimulated(), "result %v", approved.Result)
	ok("approve")

	rollback := senior.ActionsAPI.RollBackAction(ctx, waiting.ActionId).
		ActionRollback(*openapi.NewActionRollback("It was a false alarm."))
	back := must(rollback.Execute()).Data
	check(back.Status == openapi.ACTIONSTATUS_COMPLETED, "status %s", back.Status)
	check(back.RollbackActionId != waiting.ActionId, "no new action: %s", back.RollbackActionId)
	ok("roll back")

	refused(rollback.Execute())(409, "invalid_state")
	ok("conflict")
}

func triage(analyst *openapi.APIClient, incident openapi.Incident) {
	ask := analyst.TriageAPI.TriageIncident(ctx, incident.Id)
	judged := must(ask.Execute()).Data
	check(judged.Status == openapi.TRIAGESTATUS_COMPLETED, "status %s", judged.Status)
	verdict := judged.GetVerdict()
	check(verdict.Classification != "", "verdict %v", verdict)
	check(verdict.GetConfidence() >= 0 && verdict.GetConfidence() <= 1, "confidence %v", verdict.GetConfidence())
	ok("triage")

	run, response, err := ask.Execute()
	refused(run, response, err)(429, "rate_limited")
	check(response.Header.Get("Retry-After") != "", "no Retry-After")
	ok("limited")
}

func playbook(analyst, senior *openapi.APIClient, incident openapi.Incident) {
	step := openapi.NewPlaybookStepInput(openapi.KNOWNACTIONTYPE_CREATE_TICKET, "ticket")
	step.Parameters = map[string]any{"title": "{{ incident.incident_number }}"}
	body := openapi.NewPlaybookInput("playbook-" + run)
	body.Steps = []openapi.PlaybookStepInput{*step}
	id := must(senior.PlaybooksAPI.CreatePlaybook(ctx).PlaybookInput(*body).Execute()).Data.Id
	begun := must(analyst.PlaybooksAPI.RunPlaybook(ctx, id).
		PlaybookRunRequest(openapi.PlaybookRunRequest{IncidentId: &incident.Id}).Execute()).Data
	check(begun.StartedPlaybookRun != nil, "no run: %v", begun)
	ok("run")

	for {
		found := must(analyst.PlaybooksAPI.GetPlaybookRun(ctx, id, begun.StartedPlaybookRun.RunId).Execute()).Data
		if found.Status != openapi.PLAYBOOKRUNSTATUS_RUNNING {
			check(found.Status == openapi.PLAYBOOKRUNSTATUS_COMPLETED, "status %s", found.Status)
			check(found.Steps[0].Status == openapi.PLAYBOOKSTEPSTATUS_COMPLETED, "steps %v", found.Steps)
			check(found.Steps[0].Result != nil, "steps %v", found.Steps)
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	ok("read the run")

	var change openapi.PlaybookUpdate
	change.SetDescription("Opens a ticket.")
	edited := must(senior.PlaybooksAPI.UpdatePlaybook(ctx, id).PlaybookUpdate(change).Execute()).Data
	check(edited.GetDescription() == "Opens a ticket.", "description %s", edited.GetDescription())
	check(len(edited.Steps) == 1, "steps %v", edited.Steps)
	ok("edit")
}

func receipt(admin, analyst *openapi.APIClient) {
	const secret = "v7Zq-1mC4tXs9bLw2RkE8yHd"
	source := openapi.NewWebhookSourceInput(secret, run)
	must(admin.WebhooksAPI.CreateWebhookSource(ctx).WebhookSourceInput(*source).Execute())
	event := map[string]any{
		"event_type": "malware",
		"data":       map[string]any{"alert_id": "alert-4711", "severity": "high"},
	}
	body, err := json.Marshal(event)
	check(err == nil, "no body: %v", err)
	timestamp := strconv.FormatInt(time.Now().Unix(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	// The client ends the JSON that it sends with a line feed.
	mac.Write([]byte(timestamp + "." + string(body) + "\n"))
	answer := must(client("").WebhooksAPI.ReceiveWebhook(ctx, run).Body(event).
		XWebhookTimestamp(timestamp).XWebhookSignature("sha256=" + hex.EncodeToString(mac.Sum(nil))).Execute())
	accepted := answer.AcceptedReceipt
	check(accepted != nil, "not accepted: %v", answer)
	found := must(analyst.IncidentsAPI.GetIncident(ctx, accepted.IncidentId).Execute()).Data
	check(found.IncidentNumber == accepted.IncidentNumber, "another: %s", found.IncidentNumber)
	ok("receipt")
}
