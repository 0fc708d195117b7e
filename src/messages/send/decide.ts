import type { Sentence } from '../../../contracts/facts/fact.ts'
import { errorFactsWithValues } from '../../../contracts/facts/errors.ts'
import { unsupportedTemplate } from '../../../contracts/facts/template-refusals.ts'
import type { SendMessageRequest } from '../../../contracts/api/message.ts'
import { formatPath, invalidField, ServiceError } from '../../../contracts/errors.ts'
import { requireActiveWhatsAppAccount } from '../../whatsapp-accounts/whatsapp-account.ts'
import type { StoredComponent } from '../../platform/db/schema.ts'
import { formatProblem, type Problem } from '../../templates/fill/problem.ts'
import { type FilledTemplate, fillTemplate } from '../../templates/fill/values.ts'
import type { Route } from '../../whatsapp/whatsapp.ts'
import type { SuppressionRule } from '../suppressions/check.ts'

/** What the statement of a send reads: the facts that decide whether the message may be sent. */
export interface SendFacts {
  /** The requested WhatsApp account, or the default one. */
  whatsAppAccount: SendingAccount | undefined
  template: SendableTemplate | undefined
  /** An endpoint of this account subscribes to `message.sent`. */
  emitSentEvent: boolean
  /** Which suppressed recipients must not get it; undefined if everyone may. */
  suppressionRule: SuppressionRule | undefined
  /** The account stores message contents, and the template is not an authentication template. */
  storesContent: boolean
  /** Follows the category that WhatsApp has given the template, not one that it has announced. */
  route: Route
}

export interface SendingAccount {
  id: string
  phoneNumberId: string
  wabaId: string
  accessTokenEncrypted: string
  /** Undefined if the account is active. */
  inactiveReason: Sentence | undefined
  /** The messaging account that pays; undefined if WhatsApp decides. */
  messagingAccountId?: string | undefined
}

export interface SendableTemplate {
  status: string
  /** MARKETING if it is not known. */
  category: string
  parameterFormat: string
  components: StoredComponent[]
}

/** A message that may be sent, unless its recipient is suppressed. */
export interface Draft extends Pick<SendFacts, 'emitSentEvent' | 'suppressionRule' | 'storesContent' | 'route'> {
  kind: 'draft'
  from: SendingAccount
  template: SendableTemplate
  filled: FilledTemplate
}

/** The WhatsApp account has no template of this name and language. */
export interface UnknownTemplate {
  kind: 'unknown-template'
  wabaId: string
}

/**
 * Checks a request against the facts. Throws a `ServiceError` that says why the message may not be sent. The account is
 * checked first, because templates belong to it.
 */
export function decide(facts: SendFacts, input: SendMessageRequest): Draft | UnknownTemplate {
  const from = requireActiveWhatsAppAccount(facts.whatsAppAccount, input.accountId)
  if (!facts.template) return { kind: 'unknown-template', wabaId: from.wabaId }
  const template = requireApproved(facts.template, input)
  requireNumber(template, input)
  const { filled, problems, unsupported } = fillTemplate(template, input)
  if (unsupported !== undefined)
    throw invalidField('template', unsupportedTemplate.cannotBeSent({ ...input, reason: unsupported }))
  if (problems.length > 0) throw toError(problems)
  const { emitSentEvent, suppressionRule, route } = facts
  // WhatsApp can change the category of a template, so a code among the values also prevents storage.
  const storesContent = facts.storesContent && filled.secrets === undefined
  return { kind: 'draft', from, template, filled, emitSentEvent, suppressionRule, storesContent, route }
}

/** WhatsApp rejects codes for user IDs with 131062 (autumn reference, section 2.1). */
function requireNumber({ category }: SendableTemplate, { to, template }: SendMessageRequest): void {
  if (category === 'AUTHENTICATION' && to === undefined)
    throw invalidField(
      'recipient',
      `${template} is an AUTHENTICATION template, which WhatsApp sends only to a number. Set to instead.`,
    )
}

const maxProblems = 10

/** One sentence per problem, and the problems of each field for a form. */
function toError(problems: Problem[]): ServiceError {
  const sentences = problems.map(
    (found) =>
      `${formatPath(found.path)}${found.part === undefined ? '' : ` (${found.part})`}: ${formatProblem(found)}.`,
  )
  const more = sentences.length > maxProblems ? ` And ${sentences.length - maxProblems} more.` : ''
  const fields = Object.entries(Object.groupBy(problems, ({ path, key = [] }) => path.concat(key).join('.')))
  return new ServiceError('VALIDATION_ERROR', sentences.slice(0, maxProblems).join(' ') + more, {
    fields: Object.fromEntries(
      fields.map(([field, ofField = []]) => [field, `${ofField.map(({ problem }) => problem).join('. ')}.`]),
    ),
  })
}

function requireApproved(
  template: SendableTemplate,
  { template: name, language }: SendMessageRequest,
): SendableTemplate {
  if (template.status !== 'APPROVED')
    throw new ServiceError(
      'TEMPLATE_NOT_FOUND',
      errorFactsWithValues.templateNotApproved({ value: JSON.stringify(name), language, status: template.status }),
    )
  return template
}
