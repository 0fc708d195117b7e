import type { failures } from '../errors.ts'
import type { SimulatedResponse } from '../response.ts'
import type { SimulatedEndpoint } from './endpoint.ts'
import type { Plan, PlannedAction } from './plans.ts'
import { spellLikeWhatsApp } from './spelling.ts'
import { shownUser } from './users.ts'

/** A recipient whose number determines the outcome of a send. */
export interface SandboxRecipient {
  /** A number, digits only, or a user ID, as in the public API. */
  to: string
  /** The outcome in one sentence, for the guide and the command line. */
  does: string
  behaviour: Behaviour
}

type Behaviour =
  /** An error of the Graph API. */
  | { kind: 'fail'; code: keyof typeof failures }
  | { kind: 'respond'; response: SimulatedResponse }
  | {
      kind: 'accept'
      /** Delay of the response in milliseconds. */
      delayMs?: number
      messageStatus?: 'held_for_quality_assessment'
      /** Replaces the usual response, although the message was accepted. */
      response?: SimulatedResponse
      /** The statuses that follow. */
      plan: Plan
      /** What the recipient does after reading. */
      actions?: readonly PlannedAction[]
    }
  /** One endpoint is the wrong one; the other one has a behaviour of its own. */
  | { kind: 'by-endpoint'; wrong: SimulatedEndpoint; code: keyof typeof failures; other: SimpleBehaviour }

export type SimpleBehaviour = Exclude<Behaviour, { kind: 'by-endpoint' }>

/** Area code 555 is not assigned: `1555`, followed by the error code in seven digits. */
function refusal(code: keyof typeof failures, does: string): SandboxRecipient {
  return {
    to: `1555${String(code).padStart(7, '0')}`,
    does: `${does} (${code})`,
    behaviour: { kind: 'fail', code },
  }
}

function responding(to: string, does: string, response: SimulatedResponse): SandboxRecipient {
  return { to, does, behaviour: { kind: 'respond', response } }
}

/** A recipient whose message is accepted, whatever the response is, and gets the statuses of the plan. */
function accepting(to: string, does: string, plan: Plan, response?: SimulatedResponse): SandboxRecipient {
  return { to, does, behaviour: { kind: 'accept', plan, ...(response && { response }) } }
}

/** A recipient for whom one endpoint is the wrong one. */
function rerouting(
  wrong: SimulatedEndpoint,
  code: keyof typeof failures,
  { to, does, other }: { to?: string; does: string; other?: SimpleBehaviour },
): SandboxRecipient {
  return {
    to: to ?? `1555${String(code).padStart(7, '0')}`,
    does,
    behaviour: { kind: 'by-endpoint', wrong, code, other: other ?? { kind: 'accept', plan: 'usual' } },
  }
}

/** A recipient who reads the message and then does something. */
function acting(to: string, does: string, ...actions: Omit<PlannedAction, 'afterMs'>[]): SandboxRecipient {
  return {
    to,
    does,
    behaviour: {
      kind: 'accept',
      plan: 'usual',
      actions: actions.map((action, index) => ({ afterMs: afterReadingMs + index * betweenActionsMs, ...action })),
    },
  }
}

/** Later than the status `read`. */
const afterReadingMs = 2_000
/** More than a second, because WhatsApp's timestamps are whole seconds. */
const betweenActionsMs = 1_500

const badGateway = '<html><head><title>502 Bad Gateway</title></head><body>502 Bad Gateway</body></html>'

export const sandboxRecipients: readonly SandboxRecipient[] = [
  refusal(131026, 'Undeliverable: the number is not on WhatsApp'),
  refusal(131049, 'Withheld by WhatsApp for a healthy ecosystem'),
  refusal(131050, 'The user has opted out of marketing messages from this business'),
  refusal(130472, 'The user is part of an experiment'),
  refusal(130497, 'The business may not message users in this country'),
  refusal(131030, 'A test number may not message this recipient'),
  refusal(100, 'Invalid parameter'),
  refusal(132007, 'The content violates a policy'),
  refusal(132001, 'The template does not exist; Waybill syncs the templates'),
  refusal(132015, 'The template is paused; Waybill treats it as paused until the next sync'),
  refusal(132016, 'The template is disabled; Waybill treats it as disabled until the next sync'),
  refusal(131056, 'Throttled: too many messages to this recipient'),
  refusal(130429, 'Throttled: too many messages per second'),
  refusal(131048, 'Throttled: too many recipients reported spam'),
  refusal(80007, 'Throttled: too many calls by this WhatsApp Business Account'),
  refusal(4, 'Throttled: too many calls by this app'),
  refusal(190, 'The access token is rejected; the WhatsApp account becomes inactive'),
  refusal(10, 'The token lacks a permission; the WhatsApp account becomes inactive'),
  refusal(368, 'The account is blocked for a policy violation; the WhatsApp account becomes inactive'),
  refusal(131031, 'The account is locked; the WhatsApp account becomes inactive'),
  refusal(131042, 'Nothing is sent until a payment problem is solved'),
  refusal(133010, 'The sending number is not registered'),
  refusal(1, 'Unknown error of the Graph API'),
  refusal(2, 'Graph API temporarily down'),
  refusal(131000, 'Something went wrong at WhatsApp'),
  refusal(131016, 'A service of WhatsApp is unavailable'),
  refusal(131057, 'The sending number is in maintenance'),
  rerouting('marketing_messages', 131055, {
    does: 'Rejected by /marketing_messages (131055), as if the template were no marketing template; accepted by /messages',
  }),
  rerouting('marketing_messages', 134100, {
    does: 'Rejected by /marketing_messages (134100); accepted by /messages',
  }),
  rerouting('messages', 131061, {
    does: 'Rejected by /messages (131061), as a template with a maximum price; accepted by /marketing_messages',
  }),
  rerouting('messages', 131063, {
    does: 'Rejected by /messages (131063), as if marketing templates were switched off there; accepted by /marketing_messages',
  }),
  refusal(134101, 'The template is still syncing with the Marketing Messages API'),
  refusal(134102, 'The template is not available to the Marketing Messages API'),
  { to: '15559000001', does: 'Accepted after 3 seconds', behaviour: { kind: 'accept', delayMs: 3_000, plan: 'usual' } },
  {
    to: '15559000002',
    does: 'Accepted, held for quality assessment, then failed (132015)',
    behaviour: { kind: 'accept', messageStatus: 'held_for_quality_assessment', plan: 'droppedAfterHold' },
  },
  responding('15559000003', 'Accepts the request and never responds', { kind: 'silence' }),
  accepting('15559000004', 'Accepted, but the connection closes before the response; statuses arrive', 'usual', {
    kind: 'drop',
  }),
  accepting('15559000005', 'Accepted, but the response is cut off; statuses arrive', 'usual', {
    kind: 'cut-off',
    status: 200,
    body: { messaging_product: 'whatsapp', contacts: [], messages: [{ id: 'wamid.cut', message_status: 'accepted' }] },
  }),
  responding('15559000006', "Responds with 502 and a proxy's HTML page", {
    kind: 'text',
    status: 502,
    contentType: 'text/html',
    text: badGateway,
  }),
  responding('15559000007', 'Responds with 200 and a body that is not JSON', {
    kind: 'text',
    status: 200,
    contentType: 'text/plain',
    text: 'OK',
  }),
  responding('15559000008', "Responds with 404 and a web server's HTML page", {
    kind: 'text',
    status: 404,
    contentType: 'text/html',
    text: '<html><body>Not Found</body></html>',
  }),
  responding('15559000009', 'Responds with a redirect to another host', {
    kind: 'text',
    status: 302,
    contentType: 'text/plain',
    text: '',
    headers: { location: 'http://192.0.2.1/' },
  }),
  responding('15559000010', 'Responds with 500 and an unknown error code', {
    kind: 'json',
    status: 500,
    body: { error: { message: '(#999999) Unheard of', type: 'OAuthException', code: 999999 } },
  }),
  rerouting('marketing_messages', 131055, {
    to: '15559000011',
    does: 'Rejected by /marketing_messages (131055); accepted by /messages, but the connection closes before the response',
    other: { kind: 'accept', plan: 'usual', response: { kind: 'drop' } },
  }),
  rerouting('messages', 131063, {
    to: '15559000012',
    does: 'Rejected by /messages (131063); /marketing_messages never responds',
    other: { kind: 'respond', response: { kind: 'silence' } },
  }),
  accepting('15558000001', 'Delivered, but never read', 'neverRead'),
  accepting('15558000002', 'Read immediately, so that no delivered status is sent', 'readAtOnce'),
  accepting('15558000003', 'Accepted, then undeliverable (131026)', 'undeliverable'),
  accepting('15558000004', 'Accepted, then withheld by WhatsApp (131049)', 'withheld'),
  accepting('15558000005', 'Statuses arrive in the wrong order', 'backwards'),
  accepting('15558000006', 'Each status arrives three times', 'repeated'),
  accepting('15558000007', 'Fails on one device and is delivered to another', 'failedThenDelivered'),
  accepting('15558000008', 'No status arrives', 'silent'),
  acting('15557000001', 'Read, then taps the first quick-reply button, if there is one', {
    action: { kind: 'tap', button: 'first' },
  }),
  acting('15557000002', 'Read, then taps the last quick-reply button, if there is one', {
    action: { kind: 'tap', button: 'last' },
  }),
  acting('15557000003', 'Read, then replies "Thank you"', { action: { kind: 'text', body: 'Thank you' } }),
  acting('15557000004', 'Read, then completes the flow of the message, if there is one', {
    action: { kind: 'flow' },
  }),
  acting('15557000005', 'Read, then replies "Thank you"; the callback arrives three times', {
    action: { kind: 'text', body: 'Thank you' },
    times: 3,
  }),
  acting('15557000006', 'Read, then writes "Hello" without replying to the message, which is not reported', {
    action: { kind: 'text', body: 'Hello', isReply: false },
  }),
  acting('15557000007', 'Read, then replies "STOP": opts out', { action: { kind: 'text', body: 'STOP' } }),
  acting(
    '15557000008',
    'Read, then replies "STOP" and later "START": opts out and in again',
    { action: { kind: 'text', body: 'STOP' } },
    { action: { kind: 'text', body: 'START' } },
  ),
  acting('15557000009', 'Read, then stops marketing messages in WhatsApp: opts out', {
    action: { kind: 'preference', value: 'stop' },
  }),
  acting(
    '15557000010',
    'Read, then stops marketing messages in WhatsApp, and later resumes them',
    { action: { kind: 'preference', value: 'stop' } },
    { action: { kind: 'preference', value: 'resume' } },
  ),
  acting(
    '15557000011',
    'Read, then replies "STOP", and later changes the number to 15557000012: the opt-out follows',
    { action: { kind: 'text', body: 'STOP' } },
    { action: { kind: 'change', number: '15557000012' } },
  ),
  acting(
    '15557000013',
    'Read, then gets a new user ID, and stops marketing messages with the earlier one: opts out',
    { action: { kind: 'change' } },
    { action: { kind: 'preference', value: 'stop' } },
  ),
  accepting('525512340001', 'Mexico: WhatsApp writes this number with a 1 (5215512340001)', 'usual'),
  accepting('541155550001', 'Argentina: WhatsApp writes this number with a 9 (5491155550001)', 'usual'),
  accepting('5551987650001', 'Brazil: WhatsApp writes this number without the 9 (555187650001)', 'usual'),
  accepting('22997000001', 'Benin: WhatsApp writes this number with 01 (2290197000001)', 'usual'),
  accepting('22507000001', 'Ivory Coast: WhatsApp writes this number with 07 (2250707000001)', 'usual'),
  accepting('ES.2041776300000001', 'A user ID: read; the number stays hidden', 'usual'),
  accepting(shownUser.userId, `A user ID: read; the statuses show the number ${shownUser.waId}`, 'usual'),
  acting('ES.2041776300000003', 'A user ID: read, then replies "STOP": opts out', {
    action: { kind: 'text', body: 'STOP' },
  }),
  acting('ES.2041776300000004', 'A user ID: read, then stops marketing messages in WhatsApp: opts out', {
    action: { kind: 'preference', value: 'stop' },
  }),
  acting('ES.2041776300000005', 'A user ID: read, then gets a new one', { action: { kind: 'change' } }),
  accepting('ES.ENT.2041776300000006', 'A parent user ID: read; the number stays hidden', 'usual'),
  {
    to: 'ES.2041776399999999',
    does: 'A user ID of another business portfolio (131026)',
    behaviour: { kind: 'fail', code: 131026 },
  },
]

const byNumber = new Map(sandboxRecipients.map(({ to, behaviour }) => [spellLikeWhatsApp(to), behaviour]))

/** Messages to others are accepted, delivered and read. */
export function behaviourOf(waId: string, endpoint: SimulatedEndpoint): SimpleBehaviour {
  const behaviour = byNumber.get(waId) ?? { kind: 'accept', plan: 'usual' }
  if (behaviour.kind !== 'by-endpoint') return behaviour
  const { wrong, code, other } = behaviour
  return endpoint === wrong ? { kind: 'fail', code } : other
}
