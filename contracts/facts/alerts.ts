import { defineFacts, type FactTime } from './fact.ts'

/** What alerts say: titles without a full stop, and paragraphs. */
export const alertFacts = defineFacts('alert', {
  lines: '{first}\n{rest}',
  names: '{first}, {rest}',
  phoneNumberId: 'phone number ID {phoneNumberId}',
  inactive: {
    title: '{number} can no longer send',
    byUser: 'A user deactivated the WhatsApp account {number}.',
    byWhatsApp: 'WhatsApp rejected the WhatsApp account {number}: {reason}',
    isDefault: 'It is the default, so requests that do not set accountId are rejected.',
    isNamed: 'Requests that set its accountId are rejected.',
  },
  active: { title: '{number} can send again', body: 'The WhatsApp account {number} is active again.' },
  tokenExpiring: {
    withinADay: 'The access token of {number} expires within a day',
    inADay: 'The access token of {number} expires in 1 day',
    inDays: 'The access token of {number} expires in {days} days',
    at: 'The access token of the WhatsApp account {number} expires at {at}.',
    replace: 'Replace the token before then, or this account can no longer send messages.',
  },
  tokenRenewed: {
    title: 'The access token of {number} was renewed',
    body: 'The WhatsApp account {number} has a new access token.',
  },
  quality: {
    title: 'The quality rating of {number} is now {qualityRating}',
    body: 'WhatsApp rates {number} {qualityRating} by how often recipients block or report its messages.',
    advice:
      'A low rating can lower the messaging limit. Send less often, or change the templates that recipients report.',
  },
  endpoint: {
    works: 'The webhook endpoint at {host} works again',
    delivered: 'Events are delivered to {name} again.',
    fails: 'The webhook endpoint at {host} is failing',
    failsForMinutes: 'Deliveries to {name} have failed for several minutes.',
    failsSince: 'Deliveries to {name} have failed since {since}.',
    retried:
      'Messages are still sent, but your system does not receive their statuses. Waybill retries the deliveries. Ask your developers to check the endpoint.',
    disabled: 'The webhook endpoint at {host} was disabled',
    disabledBy: 'Waybill disabled the endpoint at {name}.',
    disabledFor: 'Waybill disabled the endpoint at {name}: {reason}.',
    waiting:
      'Messages are still sent, but your system does not receive their statuses. Deliveries wait until the endpoint is enabled, except those whose retries had ended. Fix the receiving server, then enable the endpoint and redeliver the events that it missed.',
  },
  template: {
    rejected: 'WhatsApp rejected the template {name} ({language})',
    reason: 'The reason is {reason}.',
    change: 'Change the template and submit it again.',
    paused: 'WhatsApp paused the template {name} ({language})',
    disabled: 'WhatsApp disabled the template {name} ({language})',
    reported: 'Recipients block or report it too often. It cannot be sent.',
    sendLess: 'Send it only to people who expect it, or change it.',
    approved: 'The template {name} ({language}) is approved again',
    sendable: 'It can be sent.',
  },
  category: {
    willReject: 'WhatsApp will reject the template {name} ({language})',
    willChange: 'WhatsApp will change the category of the template {name} ({language})',
    belongs: 'It belongs in the category {category}.',
    next: 'The new category is {category}.',
    at: 'It takes effect at {time}.',
    messages: 'Delivered messages of the last 30 days: {messages}.',
    cost: 'Delivered messages of the last 30 days: {messages}. They cost {amount} {currency}, and would have cost {newAmount} {currency}.',
    createAgain: 'Create it again in that category, and send the new one.',
    keep: 'To keep the category, change the template before that day, or request a review in WhatsApp Manager.',
    over: 'The announced change of the template {name} ({language}) is over',
    present: 'Its category is {category}.',
    unknown: 'Its category is unknown.',
  },
  notice: {
    restricted: 'WhatsApp has restricted {name}',
    warned: 'WhatsApp has warned {name}',
    reported: 'WhatsApp reported a problem with {name}',
    notices: 'WhatsApp reported: {notices}.',
    blocked: 'WhatsApp delivers no templates until the restriction ends.',
    review: 'Check the reason in Business Support Home in Meta Business Suite, and request a review if it is wrong.',
    over: 'The problem that WhatsApp reported with {name} is over',
    noneLeft: 'No restriction, warning or alert from WhatsApp is left.',
  },
  limit: {
    reached: 'The messaging limit of {name} is reached',
    near: 'The messaging limit of {name} is near',
    mayNotDeliver: 'WhatsApp may not deliver messages to more people.',
    over: '{name} is no longer near its messaging limit',
    unlimited: 'WhatsApp no longer limits the numbers of this business portfolio.',
  },
  failures: {
    title: '{percent}% of the messages of {name} fail',
    share: '{failed} of {total} messages of the last hour failed.',
    shareAndCode: '{failed} of {total} messages of the last hour failed, most often with code {code}.',
    open: 'Open a failed message to see what its code means and what to do.',
    over: 'The messages of {name} fail less often',
  },
  lag: {
    title: 'Webhook deliveries are late',
    stillSent: 'Messages are still sent; only their status webhooks are late.',
    oldest: 'The oldest delivery has been due for {seconds} seconds.',
    slowEndpoint:
      'A slow endpoint delays its own deliveries. If none is slow, ask your operator whether the workers keep up.',
    over: 'Webhook deliveries are on time again',
    none: 'No delivery is late.',
  },
  statuses: {
    title: 'No statuses arrive for {name}',
    one: 'WhatsApp accepted a message more than ten minutes ago, and no status has arrived since.',
    several: 'WhatsApp accepted {withoutStatus} messages more than ten minutes ago, and no status has arrived since.',
    stillSent: 'Messages are still sent, but Waybill cannot tell whether they arrive.',
    check:
      'Check the callback URL of the app and the subscription in the setup of this WhatsApp account. If both are correct, WhatsApp may have an outage.',
    over: 'Statuses arrive again for {name}',
    reported: 'WhatsApp reports the statuses of messages again.',
  },
})

/** In English a time like `2026-11-22 16:57 UTC`, because emails and chats have no locale. */
export function timeOf(at: Date): FactTime {
  const iso = at.toISOString()
  return { at: iso, english: `${iso.slice(0, 16).replace('T', ' ')} UTC` }
}
