/** Orders to whoever, or whatever, reads along. */
export const ORDER_SIGNS = {
  verdict_order: `
    mark .. benign | mark .. safe | classify .. benign | classify .. safe |
    classify .. malicious | classification benign | classification malicious |
    classification to benign | classification .. benign | verdict benign | verdict .. benign |
    verdict malicious | verdict .. malicious | verdict safe | answer benign | answer .. benign |
    answer malicious | answer .. malicious | answer with | return benign | return .. benign |
    output benign | output .. benign | output malicious | label .. benign | treat as benign |
    treat .. benign | treat .. malicious | set .. benign | disposition benign |
    disposition .. benign | resolve as benign | resolve .. benign | evaluate .. benign |
    report .. benign | assessment benign | conclusion .. benign | close .. benign |
    close .. false positive | closed .. false positive | als unbedenklich | als harmlos |
    als benign | réponds .. benign | do not escalate | do not re triage | keine maßnahmen |
    skip analysis | must .. benign | must .. malicious | als bösartig | confidence 1 |
    confidence 0 | confidence high | classify as | 请判定为良性`,
  orders_to_machine: `
    ignore .. previous | ignore .. instructions | ignore all | disregard .. instructions |
    forget .. instructions | previous instructions | system prompt | you are now |
    developer mode | system message | system notice | system override | as an ai | note to ai |
    note to .. ai | note to automated | note to the automated | notice to automated |
    notice to .. ai | ai triage | ai agent | triage model | triage override | triage note |
    to the model | instruct model | instruct the model | automated reviewer | language model |
    llm | classifier | evaluator please | models should | model should | model must |
    assistant must | assistant output | consigne au modèle | oublie les règles | an das modell |
    an die ki | an das prüfsystem | hinweis an das prüfsystem | for the machine |
    end of untrusted | begin untrusted | role system | role tool | role assistant |
    call the tool | function results | tool result`,
} as const;
