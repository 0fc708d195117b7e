import type { Fact } from '../../../../contracts/facts/fact.ts'
import { outcomes } from '../../../../contracts/facts/outcomes.ts'
import type { AccountReport } from '../account-reports.ts'
import type { failures } from '../errors.ts'
import type { SimulatedResponse } from '../exchange.ts'
import type { FreeReason } from '../state.ts'
import type { SimulatedEndpoint } from './endpoint.ts'
import type { Plan, PlannedAction } from './plans.ts'
import { shownUser, spellLikeWhatsApp, userWithName } from './users.ts'

/** A recipient whose number determines the outcome of a send. */
export interface SandboxRecipient {
  /** A number, digits only, or a user ID, as in the public API. */
  to: string
  /** The outcome in one sentence. */
  does: Fact
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
      /** Why WhatsApp does not charge for the message. */
      freeBecause?: FreeReason
      /** Another app answers the conversation, so that the statuses are copies. */
      isStandby?: true
      /** What the recipient does after reading. */
      actions?: readonly PlannedAction[]
    }
  /** One endpoint is the wrong one; the other one has a behaviour of its own. */
  | { kind: 'by-endpoint'; wrong: SimulatedEndpoint; code: keyof typeof failures; other: SimpleBehaviour }

export type SimpleBehaviour = Exclude<Behaviour, { kind: 'by-endpoint' }>

/** Area code 555 is not assigned: `1555`, followed by the error code in seven digits. */
function refusal(code: keyof typeof failures, outcome: () => Fact): SandboxRecipient {
  return {
    to: `1555${String(code).padStart(7, '0')}`,
    does: outcomes.withCode({ outcome: outcome(), code }),
    behaviour: { kind: 'fail', code },
  }
}

function responding(to: string, does: Fact, response: SimulatedResponse): SandboxRecipient {
  return { to, does, behaviour: { kind: 'respond', response } }
}

/** A recipient whose message is accepted, whatever the response is, and gets the statuses of the plan. */
function accepting(to: string, does: Fact, plan: Plan, response?: SimulatedResponse): SandboxRecipient {
  return { to, does, behaviour: { kind: 'accept', plan, ...(response && { response }) } }
}

/** A recipient for whom one endpoint is the wrong one. */
function rerouting(
  wrong: SimulatedEndpoint,
  code: keyof typeof failures,
  { to, does, other }: { to?: string; does: Fact; other?: SimpleBehaviour },
): SandboxRecipient {
  return {
    to: to ?? `1555${String(code).padStart(7, '0')}`,
    does,
    behaviour: { kind: 'by-endpoint', wrong, code, other: other ?? { kind: 'accept', plan: 'usual' } },
  }
}

/** A recipient who reads the message and then does something. */
function acting(to: string, does: Fact, ...actions: Omit<PlannedAction, 'afterMs'>[]): SandboxRecipient {
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

/** A message after which WhatsApp reports something about the business. */
function reporting(to: string, does: Fact, report: AccountReport): SandboxRecipient {
  return acting(to, does, { action: { kind: 'report', report } })
}

/** Later than the status `read`. */
const afterReadingMs = 2_000
/** More than a second, because WhatsApp's timestamps are whole seconds. */
const betweenActionsMs = 1_500

const badGateway = '<html><head><title>502 Bad Gateway</title></head><body>502 Bad Gateway</body></html>'

export const sandboxRecipients: readonly SandboxRecipient[] = [
  refusal(131026, outcomes.undeliverable),
  refusal(131049, outcomes.withheld),
  refusal(131050, outcomes.optedOut),
  refusal(130472, outcomes.experiment),
  refusal(130497, outcomes.country),
  refusal(131030, outcomes.notOnTestList),
  refusal(100, outcomes.invalidParameter),
  refusal(132007, outcomes.contentViolation),
  refusal(132001, outcomes.templateUnknown),
  refusal(132015, outcomes.templatePaused),
  refusal(132016, outcomes.templateDisabled),
  refusal(131056, outcomes.throttledRecipient),
  refusal(130429, outcomes.throttledMessages),
  refusal(131048, outcomes.throttledSpam),
  refusal(80007, outcomes.throttledWaba),
  refusal(4, outcomes.throttledApp),
  refusal(190, outcomes.tokenRejected),
  refusal(10, outcomes.permissionMissing),
  refusal(368, outcomes.accountBlocked),
  refusal(131031, outcomes.accountLocked),
  refusal(131042, outcomes.payment),
  refusal(133010, outcomes.notRegistered),
  refusal(1, outcomes.unknownError),
  refusal(2, outcomes.graphApiDown),
  refusal(131000, outcomes.whatsAppFailed),
  refusal(131016, outcomes.serviceUnavailable),
  refusal(131057, outcomes.maintenance),
  rerouting('marketing_messages', 131055, {
    does: outcomes.notMarketing(),
  }),
  rerouting('marketing_messages', 134100, {
    does: outcomes.marketingRejected(),
  }),
  rerouting('messages', 131061, {
    does: outcomes.maximumPrice(),
  }),
  rerouting('messages', 131063, {
    does: outcomes.marketingOffCloudApi(),
  }),
  refusal(134101, outcomes.templateSyncing),
  refusal(134102, outcomes.templateUnavailable),
  {
    to: '15559000001',
    does: outcomes.delayed(),
    behaviour: { kind: 'accept', delayMs: 3_000, plan: 'usual' },
  },
  {
    to: '15559000002',
    does: outcomes.heldThenFailed(),
    behaviour: { kind: 'accept', messageStatus: 'held_for_quality_assessment', plan: 'droppedAfterHold' },
  },
  responding('15559000003', outcomes.silent(), { kind: 'silence' }),
  accepting('15559000004', outcomes.dropped(), 'usual', {
    kind: 'drop',
  }),
  accepting('15559000005', outcomes.cutOff(), 'usual', {
    kind: 'cut-off',
    status: 200,
    body: { messaging_product: 'whatsapp', contacts: [], messages: [{ id: 'wamid.cut', message_status: 'accepted' }] },
  }),
  responding('15559000006', outcomes.badGateway(), {
    kind: 'text',
    status: 502,
    contentType: 'text/html',
    text: badGateway,
  }),
  responding('15559000007', outcomes.notJson(), {
    kind: 'text',
    status: 200,
    contentType: 'text/plain',
    text: 'OK',
  }),
  responding('15559000008', outcomes.notFoundPage(), {
    kind: 'text',
    status: 404,
    contentType: 'text/html',
    text: '<html><body>Not Found</body></html>',
  }),
  responding('15559000009', outcomes.redirect(), {
    kind: 'text',
    status: 302,
    contentType: 'text/plain',
    text: '',
    headers: { location: 'http://192.0.2.1/' },
  }),
  responding('15559000010', outcomes.unknownCode(), {
    kind: 'json',
    status: 500,
    body: { error: { message: '(#999999) Unheard of', type: 'OAuthException', code: 999999 } },
  }),
  rerouting('marketing_messages', 131055, {
    to: '15559000011',
    does: outcomes.notMarketingThenDropped(),
    other: { kind: 'accept', plan: 'usual', response: { kind: 'drop' } },
  }),
  rerouting('messages', 131063, {
    to: '15559000012',
    does: outcomes.marketingOffCloudApiThenSilent(),
    other: { kind: 'respond', response: { kind: 'silence' } },
  }),
  accepting('15558000001', outcomes.neverRead(), 'neverRead'),
  accepting('15558000002', outcomes.readAtOnce(), 'readAtOnce'),
  accepting('15558000003', outcomes.acceptedThenUndeliverable(), 'undeliverable'),
  accepting('15558000004', outcomes.acceptedThenWithheld(), 'withheld'),
  accepting('15558000005', outcomes.backwards(), 'backwards'),
  accepting('15558000006', outcomes.repeated(), 'repeated'),
  accepting('15558000007', outcomes.failedThenDelivered(), 'failedThenDelivered'),
  accepting('15558000008', outcomes.noStatus(), 'silent'),
  {
    to: '15558000009',
    does: outcomes.freeEntry(),
    behaviour: { kind: 'accept', plan: 'usual', freeBecause: 'free_entry_point' },
  },
  {
    to: '15558000010',
    does: outcomes.exempt(),
    behaviour: { kind: 'accept', plan: 'usual', freeBecause: 'paid_exempt' },
  },
  accepting(userWithName.waId, outcomes.username(), 'usual'),
  { to: '15558000012', does: outcomes.standby(), behaviour: { kind: 'accept', plan: 'usual', isStandby: true } },
  acting('15557000001', outcomes.tapsFirst(), {
    action: { kind: 'tap', button: 'first' },
  }),
  acting('15557000002', outcomes.tapsLast(), {
    action: { kind: 'tap', button: 'last' },
  }),
  acting('15557000003', outcomes.replies(), { action: { kind: 'text', body: 'Thank you' } }),
  acting('15557000004', outcomes.completesFlow(), {
    action: { kind: 'flow' },
  }),
  acting('15557000005', outcomes.repliesThreeTimes(), {
    action: { kind: 'text', body: 'Thank you' },
    times: 3,
  }),
  acting('15557000006', outcomes.writes(), {
    action: { kind: 'text', body: 'Hello', isReply: false },
  }),
  acting('15557000007', outcomes.repliesStop(), { action: { kind: 'text', body: 'STOP' } }),
  acting(
    '15557000008',
    outcomes.repliesStopAndStart(),
    { action: { kind: 'text', body: 'STOP' } },
    { action: { kind: 'text', body: 'START' } },
  ),
  acting('15557000009', outcomes.stopsMarketing(), {
    action: { kind: 'preference', value: 'stop' },
  }),
  acting(
    '15557000010',
    outcomes.stopsAndResumes(),
    { action: { kind: 'preference', value: 'stop' } },
    { action: { kind: 'preference', value: 'resume' } },
  ),
  acting(
    '15557000011',
    outcomes.stopsAndChangesNumber(),
    { action: { kind: 'text', body: 'STOP' } },
    { action: { kind: 'change', number: '15557000012' } },
  ),
  acting(
    '15557000013',
    outcomes.stopsWithEarlierUserId(),
    { action: { kind: 'change' } },
    { action: { kind: 'preference', value: 'stop' } },
  ),
  acting('15557000014', outcomes.clicks(), { action: { kind: 'click' } }),
  acting('15557000015', outcomes.history(), { action: { kind: 'history' } }),
  acting('15557000016', outcomes.errorWithoutMessage(), { action: { kind: 'error', code: 131000 } }),
  reporting('15556000001', outcomes.limitRaised(), { kind: 'limit', tier: 'TIER_2K', people: 2000 }),
  reporting('15556000002', outcomes.limitLowered(), { kind: 'limit', tier: 'TIER_50', people: 50 }),
  reporting('15556000003', outcomes.throughputRaised(), { kind: 'throughput' }),
  reporting('15556000004', outcomes.pictureLost(), {
    kind: 'alert',
    type: 'PROFILE_PICTURE_LOST',
    severity: 'WARNING',
    description: 'The profile picture of the business was lost. Upload it again.',
  }),
  reporting('15556000005', outcomes.officialAccount(), {
    kind: 'alert',
    type: 'OBA_APPROVED',
    severity: 'INFORMATIONAL',
    description: 'The request for an official business account was approved.',
  }),
  reporting('15556000006', outcomes.warned(), {
    kind: 'restriction',
    violation: 'UTILITY_TEMPLATE_ABUSE',
    restrictions: [],
  }),
  reporting('15556000007', outcomes.utilityLimited(), {
    kind: 'restriction',
    violation: 'UTILITY_TEMPLATE_ABUSE_RATE_LIMIT',
    restrictions: ['RATE_LIMITED_UTILITY_TEMPLATE_MESSAGING'],
  }),
  reporting('15556000008', outcomes.utilityLimitOver(), {
    kind: 'restriction',
    violation: 'UTILITY_TEMPLATE_ABUSE_RATE_LIMIT_RECOVERY',
    restrictions: [],
  }),
  reporting('15556000009', outcomes.portfolioRestricted(), {
    kind: 'restriction',
    violation: 'UTILITY_TEMPLATE_ABUSE',
    restrictions: [
      'RESTRICTED_BIZ_INITIATED_MESSAGING',
      'RESTRICTED_CUSTOMER_INITIATED_MESSAGING',
      'RESTRICTED_ADD_PHONE_NUMBER_ACTION',
    ],
    ofPortfolio: true,
  }),
  reporting('15556000010', outcomes.portfolioRestored(), {
    kind: 'restriction',
    violation: 'UTILITY_TEMPLATE_ABUSE_UNBAN',
    restrictions: [],
    ofPortfolio: true,
  }),
  reporting('15556000011', outcomes.banScheduled(), { kind: 'ban', state: 'SCHEDULE_FOR_DISABLE' }),
  reporting('15556000012', outcomes.banLifted(), { kind: 'ban', state: 'REINSTATE' }),
  accepting('525512340001', outcomes.mexico(), 'usual'),
  accepting('541155550001', outcomes.argentina(), 'usual'),
  accepting('5551987650001', outcomes.brazil(), 'usual'),
  accepting('22997000001', outcomes.benin(), 'usual'),
  accepting('22507000001', outcomes.ivoryCoast(), 'usual'),
  accepting('ES.2041776300000001', outcomes.userId(), 'usual'),
  accepting(shownUser.userId, outcomes.userIdShown({ number: shownUser.waId }), 'usual'),
  acting('ES.2041776300000003', outcomes.userIdRepliesStop(), {
    action: { kind: 'text', body: 'STOP' },
  }),
  acting('ES.2041776300000004', outcomes.userIdStopsMarketing(), {
    action: { kind: 'preference', value: 'stop' },
  }),
  acting('ES.2041776300000005', outcomes.userIdChanges(), { action: { kind: 'change' } }),
  acting('ES.2041776300000007', outcomes.userIdShares({ number: '34600000007' }), {
    action: { kind: 'share', number: '34600000007' },
  }),
  accepting('ES.ENT.2041776300000006', outcomes.parentUserId(), 'usual'),
  {
    to: 'ES.2041776399999999',
    does: outcomes.foreignUserId(),
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
