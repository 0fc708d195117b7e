import { defineFacts } from './fact.ts'

/** What the webhook events report, by their types. */
export const eventFacts = defineFacts('event', {
  'message.sent': 'WhatsApp accepted the message.',
  'message.delivered': "The message reached the recipient's device.",
  'message.read': 'The recipient opened the message. Recipients who hide this are never reported as having read it.',
  'message.failed': 'WhatsApp could not deliver the message; `error` says why, with the code that WhatsApp gave.',
  'message.outcome_unknown':
    'WhatsApp has sent no response and no status for an hour (`WAYBILL_OUTCOME_UNKNOWN_AFTER`), so the message may have been sent or not. Reported once; a status that comes later is reported as usual.',
  'message.replied':
    'The recipient tapped a quick-reply button of the message, completed its flow, or answered it with a text. Other messages of the recipient are not reported.',
  'whatsapp_account.inactive':
    'WhatsApp rejected its access token or disabled it, or a user deactivated it: every send from it is rejected until it is active again. Reported once.',
  'whatsapp_account.active': 'Its token was replaced, or it was activated.',
  'whatsapp_account.token_expiring': 'Reported 14, 7 and 1 days before the access token expires, and on the last day.',
  'number.quality_changed':
    'WhatsApp rates each phone number by how often recipients block or report its messages. A low rating can lower the messaging limit.',
  'endpoint.failing':
    'Every attempt to deliver to an endpoint has failed for five minutes, or Waybill has disabled it. Reported once, to the other endpoints of the account that ask for it; again after a delivery has succeeded or the endpoint was enabled.',
  'recipient.opted_out':
    'The recipient sent a word such as STOP, stopped marketing messages in WhatsApp, or WhatsApp rejected a message because of that (131050). Marketing messages to the recipient are rejected from now on.',
  'recipient.opted_in': 'The recipient sent a word such as START, or resumed marketing messages in WhatsApp.',
  'template.approved': 'WhatsApp approved a template, or resumed a paused one: it can be sent.',
  'template.rejected': 'WhatsApp rejected a template in its review; `reason` says why. Change it and submit it again.',
  'template.paused':
    'WhatsApp paused a template because recipients blocked or reported it, or disabled it after several pauses: `status` says which. It cannot be sent.',
  'template.category_changed':
    'WhatsApp assigned another category than before, or than the one asked for. Prices and limits follow the category.',
  'template.category_changing':
    'WhatsApp announced another category, usually a day ahead. Reported once per announced category; `template.category_changed` follows when the change is complete. A template that belongs in AUTHENTICATION keeps its category, and is rejected instead.',
  'webhook.test': 'Sent once, when the account owner tests an endpoint. It reports no real event.',
})
