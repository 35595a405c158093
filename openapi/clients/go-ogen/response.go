package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"scenario/api"
	"strconv"
	"time"

	"github.com/google/uuid"
)

func actions(analyst, senior *api.Client, id api.IncidentReference) {
	isolation := api.NewIsolateHostRequestActionRequest(api.IsolateHostRequest{
		Action: api.IsolateHostRequestActionIsolateHost,
		Parameters: api.IsolateHostParameters{
			HostID: "WS-0142", Reason: api.NewOptString("It talks to a known address."),
		},
	})
	executed := as[*api.ExecuteIncidentActionAccepted](
		analyst.ExecuteIncidentAction(ctx, isolation, api.ExecuteIncidentActionParams{ID: id}))
	waiting := executed.Response.Data
	check(waiting.Status == api.ActionStatusPendingApproval, "status %s", waiting.Status)
	check(waiting.ApprovalLevel.Value == api.RequiredLevelSenior, "level %v", waiting.ApprovalLevel)
	ok("execute")

	comment := api.NewOptActionApproval(api.ActionApproval{
		Comment: api.NewOptString("Confirmed with the owner of the host."),
	})
	decision := api.ApproveActionParams{ID: waiting.ActionID}
	low := as[*api.ForbiddenOrInsufficientApprovalLevelAnswerHeaders](analyst.ApproveAction(ctx, comment, decision)).Response.Error
	check(low.Code == "insufficient_approval_level", "code %s", low.Code)
	check(low.YourLevel.Value == api.ApprovalLevelAnalyst, "level %v", low.YourLevel)
	approved := as[*api.ApproveActionOK](senior.ApproveAction(ctx, comment, decision)).Response.Data
	check(approved.Status == api.ActionStatusCompleted, "status %s", approved.Status)
	check(approved.Result.Value.Simulated.Value, "result %v", approved.Result)
	ok("approve")

	reason := api.ActionRollback{Reason: "It was a false alarm."}
	rollback := api.RollBackActionParams{ID: waiting.ActionID}
	back := as[*api.RollBackActionOK](senior.RollBackAction(ctx, &reason, rollback)).Response.Data
	check(back.Status == api.ActionStatusCompleted, "status %s", back.Status)
	check(back.RollbackActionID != waiting.ActionID, "no new action: %s", back.RollbackActionID)
	ok("roll back")

	twice := as[*api.RequestUnderWayOrInvalidStateOrKillSwitchActiveAnswerHeaders](senior.RollBackAction(ctx, &reason, rollback)).Response.Error
	check(twice.Code == "invalid_state", "code %s", twice.Code)
	ok("conflict")
}

func triage(analyst *api.Client, id api.IncidentReference) {
	params := api.TriageIncidentParams{ID: id}
	judged := as[*api.TriageRunEnvelopeHeaders](analyst.TriageIncident(ctx, api.OptTriageRequest{}, params)).Response.Data
	check(judged.Status == api.TriageStatusCompleted, "status %s", judged.Status)
	verdict := judged.Verdict.Value
	check(verdict.Classification != "", "verdict %v", verdict)
	check(verdict.Confidence >= 0 && verdict.Confidence <= 1, "confidence %v", verdict.Confidence)
	ok("triage")

	limited := as[*api.RateLimitedAnswerHeaders](analyst.TriageIncident(ctx, api.OptTriageRequest{}, params))
	check(limited.Response.Error.Code == "rate_limited", "code %s", limited.Response.Error.Code)
	check(limited.RetryAfter > 0, "no Retry-After")
	ok("limited")
}

func playbook(analyst, senior *api.Client, incident api.IncidentReference) {
	body := api.PlaybookInput{Name: "playbook-" + run, Steps: []api.PlaybookStepInput{{
		Name: "ticket", Action: api.KnownActionTypeCreateTicket,
		Parameters: api.NewOptPlaybookStepInputParameters(api.PlaybookStepInputParameters{
			"title": []byte(`"{{ incident.incident_number }}"`),
		}),
	}}}
	made := as[*api.PlaybookEnvelopeHeaders](senior.CreatePlaybook(ctx, &body, api.CreatePlaybookParams{}))
	id := api.PlaybookReference(uuid.UUID(made.Response.Data.ID).String())
	request := api.NewOptPlaybookRunRequest(api.PlaybookRunRequest{IncidentID: api.NewOptIncidentReference(incident)})
	begun := as[*api.RunPlaybookOK](analyst.RunPlaybook(ctx, request, api.RunPlaybookParams{ID: id})).Response.Data
	started, isStarted := begun.GetStartedPlaybookRun()
	check(isStarted, "no run: %v", begun)
	ok("run")

	for {
		params := api.GetPlaybookRunParams{ID: id, RunID: started.RunID}
		found := as[*api.PlaybookRunEnvelopeHeaders](analyst.GetPlaybookRun(ctx, params)).Response.Data
		if found.Status != api.PlaybookRunStatusRunning {
			check(found.Status == api.PlaybookRunStatusCompleted, "status %s", found.Status)
			check(found.Steps[0].Status == api.PlaybookStepStatusCompleted, "steps %v", found.Steps)
			check(found.Steps[0].Result.Set, "steps %v", found.Steps)
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	ok("read the run")

	change := api.PlaybookUpdate{Description: api.NewOptNilString("Opens a ticket.")}
	edited := as[*api.GetPlaybookOKHeaders](senior.UpdatePlaybook(ctx, &change, api.UpdatePlaybookParams{ID: id})).Response.Data
	check(edited.Description.Value == "Opens a ticket.", "description %v", edited.Description)
	check(len(edited.Steps) == 1, "steps %v", edited.Steps)
	ok("edit")
}

func receipt(admin, analyst *api.Client) {
	const secret = "v7Zq-1mC4tXs9bLw2RkE8yHd"
	source := api.WebhookSourceInput{Source: api.WebhookSourceName(run), Secret: secret}
	as[*api.WebhookSourceEnvelopeHeaders](admin.CreateWebhookSource(ctx, &source, api.CreateWebhookSourceParams{}))
	body := []byte(`{"event_type":"malware","data":{"alert_id":"alert-4711","severity":"high"}}`)
	timestamp := strconv.FormatInt(time.Now().Unix(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp + "." + string(body)))
	answer := as[*api.ReceiveWebhookOK](client("").ReceiveWebhook(ctx, body, api.ReceiveWebhookParams{
		Source:            api.WebhookSourceName(run),
		XWebhookTimestamp: api.NewOptString(timestamp),
		XWebhookSignature: api.NewOptString("sha256=" + hex.EncodeToString(mac.Sum(nil))),
	}))
	accepted, isAccepted := answer.Response.GetAcceptedReceipt()
	check(isAccepted, "not accepted: %v", answer.Response)
	params := api.GetIncidentParams{ID: api.IncidentReference(uuid.UUID(accepted.IncidentID).String())}
	found := as[*api.IncidentEnvelopeHeaders](analyst.GetIncident(ctx, params)).Response.Data
	check(found.IncidentNumber == accepted.IncidentNumber, "another: %s", found.IncidentNumber)
	ok("receipt")
}
