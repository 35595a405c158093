"""The scenario of openapi/clients/scenario.json, with the client that openapi-python-client makes."""

import actions
import automation
import incidents
from parties import parties

party = parties()
incident = incidents.create(party)
incidents.listed(party, incident)
incidents.update(party, str(incident))
actions.contain(party, str(incident))
automation.triage(party, str(incident))
automation.run(party, str(incident))
automation.deliver(party)
incidents.invalid(party)
