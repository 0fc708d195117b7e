import type { failures } from '../errors.ts'
import type { Answer } from '../answer.ts'
import type { Plan, PlannedAnswer } from './plans.ts'

/** A recipient whose number determines the outcome of a send. */
export interface SandboxRecipient {
  /** Digits only, as in the public API. */
  to: string
  /** The outcome in one sentence, for the guide and the command line. */
  does: string
  behaviour: Behaviour
}

export type Behaviour =
  /** An error of the Graph API. */
  | { kind: 'fail'; code: keyof typeof failures }
  | { kind: 'answer'; answer: Answer }
  | {
      kind: 'accept'
      /** Delay of the response in milliseconds. */
      delayMs?: number
      messageStatus?: 'held_for_quality_assessment'
      /** Sent in place of the usual response, although the message was accepted. */
      answer?: Answer
      /** The statuses that follow. */
      plan: Plan
      /** What the recipient does after reading. */
      answers?: readonly PlannedAnswer[]
    }

/** Area code 555 is not assigned: `1555`, followed by the error code in seven digits. */
function refusal(code: keyof typeof failures, does: string): SandboxRecipient {
  return {
    to: `1555${String(code).padStart(7, '0')}`,
    does: `${does} (${code})`,
    behaviour: { kind: 'fail', code },
  }
}

function answering(to: string, does: string, answer: Answer): SandboxRecipient {
  return { to, does, behaviour: { kind: 'answer', answer } }
}

/** A recipient whose message is accepted, whatever the response is, and then follows the plan. */
function becoming(to: string, does: string, plan: Plan, answer?: Answer): SandboxRecipient {
  return { to, does, behaviour: { kind: 'accept', plan, ...(answer && { answer }) } }
}

/** A recipient who reads the message and then does something. */
function answeringWith(to: string, does: string, ...answers: Omit<PlannedAnswer, 'afterMs'>[]): SandboxRecipient {
  return {
    to,
    does,
    behaviour: {
      kind: 'accept',
      plan: 'usual',
      answers: answers.map((answer, index) => ({ afterMs: afterReadingMs + index * betweenAnswersMs, ...answer })),
    },
  }
}

/** After the status `read`. */
const afterReadingMs = 2_000
/** WhatsApp's times are whole seconds. */
const betweenAnswersMs = 1_500

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
  { to: '15559000001', does: 'Accepted after 3 seconds', behaviour: { kind: 'accept', delayMs: 3_000, plan: 'usual' } },
  {
    to: '15559000002',
    does: 'Accepted, held for quality assessment, then failed (132015)',
    behaviour: { kind: 'accept', messageStatus: 'held_for_quality_assessment', plan: 'droppedAfterHold' },
  },
  answering('15559000003', 'Accepts the request and never responds', { kind: 'silence' }),
  becoming('15559000004', 'Accepted, but the connection closes before the response; statuses arrive', 'usual', {
    kind: 'drop',
  }),
  becoming('15559000005', 'Accepted, but the response is cut off; statuses arrive', 'usual', {
    kind: 'cut-off',
    status: 200,
    body: { messaging_product: 'whatsapp', contacts: [], messages: [{ id: 'wamid.cut', message_status: 'accepted' }] },
  }),
  answering('15559000006', "Responds with 502 and a proxy's HTML page", {
    kind: 'text',
    status: 502,
    contentType: 'text/html',
    text: badGateway,
  }),
  answering('15559000007', 'Responds with 200 and a body that is not JSON', {
    kind: 'text',
    status: 200,
    contentType: 'text/plain',
    text: 'OK',
  }),
  answering('15559000008', "Responds with 404 and a web server's HTML page", {
    kind: 'text',
    status: 404,
    contentType: 'text/html',
    text: '<html><body>Not Found</body></html>',
  }),
  answering('15559000009', 'Responds with a redirect to another host', {
    kind: 'text',
    status: 302,
    contentType: 'text/plain',
    text: '',
    headers: { location: 'http://192.0.2.1/' },
  }),
  answering('15559000010', 'Responds with 500 and an unknown error code', {
    kind: 'json',
    status: 500,
    body: { error: { message: '(#999999) Unheard of', type: 'OAuthException', code: 999999 } },
  }),
  becoming('15558000001', 'Delivered, but never read', 'neverRead'),
  becoming('15558000002', 'Read immediately, so that no delivered status is sent', 'readAtOnce'),
  becoming('15558000003', 'Accepted, then undeliverable (131026)', 'undeliverable'),
  becoming('15558000004', 'Accepted, then withheld by WhatsApp (131049)', 'withheld'),
  becoming('15558000005', 'Statuses arrive in the wrong order', 'backwards'),
  becoming('15558000006', 'Each status arrives three times', 'repeated'),
  becoming('15558000007', 'Fails on one device and is delivered to another', 'failedThenDelivered'),
  becoming('15558000008', 'No status arrives', 'silent'),
  answeringWith('15557000001', 'Read, then taps the first quick-reply button, if there is one', {
    answer: { kind: 'tap', button: 'first' },
  }),
  answeringWith('15557000002', 'Read, then taps the last quick-reply button, if there is one', {
    answer: { kind: 'tap', button: 'last' },
  }),
  answeringWith('15557000003', 'Read, then replies "Thank you"', { answer: { kind: 'text', body: 'Thank you' } }),
  answeringWith('15557000004', 'Read, then completes the flow of the message, if there is one', {
    answer: { kind: 'flow' },
  }),
  answeringWith('15557000005', 'Read, then replies "Thank you"; the callback arrives three times', {
    answer: { kind: 'text', body: 'Thank you' },
    times: 3,
  }),
  answeringWith('15557000006', 'Read, then writes "Hello" without replying to the message, which is not reported', {
    answer: { kind: 'text', body: 'Hello', isReply: false },
  }),
  answeringWith('15557000007', 'Read, then replies "STOP": opts out', { answer: { kind: 'text', body: 'STOP' } }),
  answeringWith(
    '15557000008',
    'Read, then replies "STOP" and later "START": opts out and in again',
    { answer: { kind: 'text', body: 'STOP' } },
    { answer: { kind: 'text', body: 'START' } },
  ),
  answeringWith('15557000009', 'Read, then stops marketing messages in WhatsApp: opts out', {
    answer: { kind: 'preference', value: 'stop' },
  }),
  answeringWith(
    '15557000010',
    'Read, then stops marketing messages in WhatsApp, and later resumes them',
    { answer: { kind: 'preference', value: 'stop' } },
    { answer: { kind: 'preference', value: 'resume' } },
  ),
]

const byNumber = new Map(sandboxRecipients.map((recipient) => [recipient.to, recipient.behaviour]))

/** Messages to other numbers are accepted, delivered and read. */
export function behaviourOf(digits: string): Behaviour {
  return byNumber.get(digits) ?? { kind: 'accept', plan: 'usual' }
}
