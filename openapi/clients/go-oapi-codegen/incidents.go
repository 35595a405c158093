package main

import "scenario/api"

func incidents(analyst *api.ClientWithResponses) api.Incident {
	report := api.IncidentInput{
		IncidentType: "phishing", Source: run, Severity: ptr(api.Severity("high")),
		RawData: &map[string]any{"message_id": "<1@mail.example.net>", "sender": "ceo@example.net"},
	}
	once := &api.CreateIncidentParams{IdempotencyKey: ptr("report-" + run)}
	first := must(analyst.CreateIncidentWithResponse(ctx, once, report))
	check(first.JSON201 != nil, "not created: %s", first.Body)
	again := must(analyst.CreateIncidentWithResponse(ctx, once, report))
	check(again.JSON201 != nil && again.JSON201.Data.Id == first.JSON201.Data.Id, "made twice: %s", again.Body)
	second := must(analyst.CreateIncidentWithResponse(ctx, nil, report))
	check(second.JSON201 != nil, "not created: %s", second.Body)
	ok("create")

	filter := api.ListIncidentsParams{
		Status: &[]api.IncidentStatus{"open", "triaged"}, Severity: &[]api.Severity{"high", "critical"},
		Source: &run, Sort: &[]api.IncidentSort{"-created_at"}, PerPage: ptr[int32](1),
	}
	page := must(analyst.ListIncidentsWithResponse(ctx, &filter))
	check(page.JSON200 != nil, "no list: %s", page.Body)
	check(page.JSON200.Meta.Total == 2, "total %d", page.JSON200.Meta.Total)
	check(page.JSON200.Data[0].Id == second.JSON201.Data.Id, "the first page is %s", page.Body)
	ok("list")

	filter.Page = ptr(page.JSON200.Meta.Page + 1)
	page = must(analyst.ListIncidentsWithResponse(ctx, &filter))
	check(page.JSON200 != nil, "no list: %s", page.Body)
	check(page.JSON200.Data[0].Id == first.JSON201.Data.Id, "the next page is %s", page.Body)
	ok("next page")

	return update(analyst, first.JSON201.Data.Id.String())
}

func update(analyst *api.ClientWithResponses, id api.IncidentReference) api.Incident {
	read := must(analyst.GetIncidentWithResponse(ctx, id))
	check(read.JSON200 != nil, "not read: %s", read.Body)
	ifMatch := &api.UpdateIncidentParams{IfMatch: ptr(read.HTTPResponse.Header.Get("ETag"))}
	raised := must(analyst.UpdateIncidentWithResponse(ctx, id, ifMatch,
		api.IncidentUpdate{Severity: ptr(api.Severity("critical"))}))
	check(raised.JSON200 != nil, "not updated: %s", raised.Body)
	check(raised.JSON200.Data.Severity == "critical", "severity %s", raised.JSON200.Data.Severity)
	ok("update")

	stale := must(analyst.UpdateIncidentWithResponse(ctx, id, ifMatch,
		api.IncidentUpdate{Severity: ptr(api.Severity("low"))}))
	check(stale.JSON412 != nil, "not 412: %s", stale.Body)
	check(stale.JSON412.Error.Code == "precondition_failed", "code %s", stale.JSON412.Error.Code)
	read = must(analyst.GetIncidentWithResponse(ctx, id))
	check(read.JSON200.Data.Severity == "critical", "severity %s", read.JSON200.Data.Severity)
	ok("stale")
	return read.JSON200.Data
}
