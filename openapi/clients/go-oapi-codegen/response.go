package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"scenario/api"
	"strconv"
	"time"
)

func actions(analyst, senior *api.ClientWithResponses, incident api.Incident) {
	var isolation api.ActionRequest
	err := isolation.FromIsolateHostRequest(api.IsolateHostRequest{
		Parameters: api.IsolateHostParameters{HostId: "WS-0142", Reason: ptr("It talks to a known address.")},
	})
	check(err == nil, "no request: %v", err)
	executed := must(analyst.ExecuteIncidentActionWithResponse(ctx, incident.Id.String(), nil, isolation))
	check(executed.JSON202 != nil, "not 202: %s", executed.Body)
	waiting := executed.JSON202.Data
	check(waiting.Status == "pending_approval", "status %s", waiting.Status)
	check(*waiting.ApprovalLevel == "senior", "level %s", *waiting.ApprovalLevel)
	ok("execute")

	comment := api.ActionApproval{Comment: ptr("Confirmed with the owner of the host.")}
	low := must(analyst.ApproveActionWithResponse(ctx, waiting.ActionId, nil, comment))
	check(low.JSON403 != nil, "not 403: %s", low.Body)
	check(low.JSON403.Error.Code == "insufficient_approval_level", "code %s", low.JSON403.Error.Code)
	check(*low.JSON403.Error.YourLevel == "analyst", "level %s", *low.JSON403.Error.YourLevel)
	approved := must(senior.ApproveActionWithResponse(ctx, waiting.ActionId, nil, comment))
	check(approved.JSON200 != nil, "not approved: %s", approved.Body)
	check(approved.JSON200.Data.Status == "completed", "status %s", approved.JSON200.Data.Status)
	check(*approved.JSON200.Data.Result.Simulated, "result %s", approved.Body)
	ok("approve")

	reason := api.ActionRollback{Reason: "It was a false alarm."}
	back := must(senior.RollBackActionWithResponse(ctx, waiting.ActionId, nil, reason))
	check(back.JSON200 != nil, "not rolled back: %s", back.Body)
	check(back.JSON200.Data.Status == "completed", "status %s", back.JSON200.Data.Status)
	check(back.JSON200.Data.RollbackActionId != waiting.ActionId, "no new action: %s", back.Body)
	ok("roll back")

	twice := must(senior.RollBackActionWithResponse(ctx, waiting.ActionId, nil, reason))
	check(twice.JSON409 != nil, "not 409: %s", twice.Body)
	check(twice.JSON409.Error.Code == "invalid_state", "code %s", twice.JSON409.Error.Code)
	ok("conflict")
}

func triage(analyst *api.ClientWithResponses, incident api.Incident) {
	judged := must(analyst.TriageIncidentWithResponse(ctx, incident.Id.String(), nil, api.TriageRequest{}))
	check(judged.JSON200 != nil, "not triaged: %s", judged.Body)
	check(judged.JSON200.Data.Status == "completed", "status %s", judged.JSON200.Data.Status)
	verdict := judged.JSON200.Data.Verdict
	check(verdict.Classification != "", "verdict %v", verdict)
	check(verdict.Confidence >= 0 && verdict.Confidence <= 1, "confidence %v", verdict.Confidence)
	ok("triage")

	limited := must(analyst.TriageIncidentWithResponse(ctx, incident.Id.String(), nil, api.TriageRequest{}))
	check(limited.JSON429 != nil, "not 429: %s", limited.Body)
	check(limited.JSON429.Error.Code == "rate_limited", "code %s", limited.JSON429.Error.Code)
	check(limited.HTTPResponse.Header.Get("Retry-After") != "", "no Retry-After")
	ok("limited")
}

func playbook(analyst, senior *api.ClientWithResponses, incident api.Incident) {
	made := must(senior.CreatePlaybookWithResponse(ctx, nil, api.PlaybookInput{
		Name: "playbook-" + run,
		Steps: &[]api.PlaybookStepInput{{
			Name: "ticket", Action: "create_ticket",
			Parameters: &map[string]any{"title": "{{ incident.incident_number }}"},
		}},
	}))
	check(made.JSON201 != nil, "no playbook: %s", made.Body)
	id := made.JSON201.Data.Id.String()
	begun := must(analyst.RunPlaybookWithResponse(ctx, id, nil, api.PlaybookRunRequest{IncidentId: ptr(incident.Id.String())}))
	check(begun.JSON200 != nil, "not run: %s", begun.Body)
	started := must(begun.JSON200.Data.AsStartedPlaybookRun())
	ok("run")

	for {
		read := must(analyst.GetPlaybookRunWithResponse(ctx, id, started.RunId))
		check(read.JSON200 != nil, "no run: %s", read.Body)
		if found := read.JSON200.Data; found.Status != "running" {
			check(found.Status == "completed", "status %s", found.Status)
			check(found.Steps[0].Status == "completed" && found.Steps[0].Result != nil, "steps %v", found.Steps)
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	ok("read the run")

	edited := must(senior.UpdatePlaybookWithResponse(ctx, id, nil,
		api.PlaybookUpdate{Description: ptr("Opens a ticket.")}))
	check(edited.JSON200 != nil, "not edited: %s", edited.Body)
	check(*edited.JSON200.Data.Description == "Opens a ticket.", "description %s", edited.Body)
	check(len(edited.JSON200.Data.Steps) == 1, "steps %s", edited.Body)
	ok("edit")
}

func receipt(admin, analyst *api.ClientWithResponses) {
	const secret = "v7Zq-1mC4tXs9bLw2RkE8yHd"
	source := must(admin.CreateWebhookSourceWithResponse(ctx, nil,
		api.WebhookSourceInput{Source: run, Secret: secret}))
	check(source.JSON201 != nil, "no source: %s", source.Body)
	body := must(json.Marshal(map[string]any{
		"event_type": "malware",
		"data":       map[string]any{"alert_id": "alert-4711", "severity": "high"},
	}))
	timestamp := strconv.FormatInt(time.Now().Unix(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp + "." + string(body)))
	answer := must(client("").ReceiveWebhookWithBodyWithResponse(ctx, run, &api.ReceiveWebhookParams{
		XWebhookTimestamp: &timestamp,
		XWebhookSignature: ptr("sha256=" + hex.EncodeToString(mac.Sum(nil))),
	}, "application/json", bytes.NewReader(body)))
	check(answer.JSON200 != nil, "not received: %s", answer.Body)
	word := must(answer.JSON200.Discriminator())
	check(word == "accepted", "not accepted: %s", answer.Body)
	accepted := must(answer.JSON200.AsAcceptedReceipt())
	found := must(analyst.GetIncidentWithResponse(ctx, accepted.IncidentId.String()))
	check(found.JSON200 != nil, "not found: %s", found.Body)
	check(found.JSON200.Data.IncidentNumber == accepted.IncidentNumber, "another: %s", found.Body)
	ok("receipt")
}
