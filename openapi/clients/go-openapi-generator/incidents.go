package main

import openapi "github.com/GIT_USER_ID/GIT_REPO_ID"

func incidents(analyst *openapi.APIClient) openapi.Incident {
	api := analyst.IncidentsAPI
	report := openapi.NewIncidentInput("phishing", run)
	report.Severity = openapi.SEVERITY_HIGH.Ptr()
	report.RawData = map[string]any{"message_id": "<1@mail.example.net>", "sender": "ceo@example.net"}
	create := api.CreateIncident(ctx).IncidentInput(*report)
	once := create.IdempotencyKey("report-" + run)
	first := must(once.Execute()).Data.Id
	check(must(once.Execute()).Data.Id == first, "made twice")
	second := must(create.Execute()).Data.Id
	ok("create")

	list := api.ListIncidents(ctx).Source(run).PerPage(1).
		Status([]openapi.IncidentStatus{openapi.INCIDENTSTATUS_OPEN, openapi.INCIDENTSTATUS_TRIAGED}).
		Severity([]openapi.Severity{openapi.SEVERITY_HIGH, openapi.SEVERITY_CRITICAL}).
		Sort([]openapi.IncidentSort{openapi.INCIDENTSORT_CreatedAtDesc})
	page := must(list.Execute())
	check(page.Meta.Total == 2, "total %d", page.Meta.Total)
	check(page.Data[0].Id == second, "the first page is %v", page.Data)
	ok("list")

	page = must(list.Page(page.Meta.Page + 1).Execute())
	check(page.Data[0].Id == first, "the next page is %v", page.Data)
	ok("next page")

	return update(api, first)
}

func update(api *openapi.IncidentsAPIService, id string) openapi.Incident {
	_, response, err := api.GetIncident(ctx, id).Execute()
	check(err == nil, "not read: %v", err)
	change := api.UpdateIncident(ctx, id).IfMatch(response.Header.Get("ETag"))
	var raise, lower openapi.IncidentUpdate
	raise.SetSeverity(openapi.SEVERITY_CRITICAL)
	raised := must(change.IncidentUpdate(raise).Execute()).Data
	check(raised.Severity == openapi.SEVERITY_CRITICAL, "severity %s", raised.Severity)
	ok("update")

	lower.SetSeverity(openapi.SEVERITY_LOW)
	refused(change.IncidentUpdate(lower).Execute())(412, "precondition_failed")
	kept := must(api.GetIncident(ctx, id).Execute()).Data
	check(kept.Severity == openapi.SEVERITY_CRITICAL, "severity %s", kept.Severity)
	ok("stale")
	return kept
}
