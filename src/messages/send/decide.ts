import type { SendMessageRequest } from '../../../contracts/api/message.ts'
import { invalidField, ServiceError } from '../../../contracts/errors.ts'
import type { StoredComponent } from '../../platform/db/schema.ts'
import { findUnsupportedPart, listPlaceholders } from '../../templates/render.ts'
import { findVariableProblems } from '../../templates/variables.ts'

/** What the database knows about a send before it happens. */
export interface SendFacts {
  /** The WhatsApp account asked for, or the default one. */
  whatsAppAccount: SendingAccount | undefined
  template: SendableTemplate | undefined
  /** An endpoint of this account asked to be told of `message.sent`. */
  emitSentEvent: boolean
}

export interface SendingAccount {
  id: string
  phoneNumberId: string
  wabaId: string
  accessTokenEncrypted: string
  /** Undefined when it is active. */
  inactiveReason: string | undefined
}

interface SendableTemplate {
  status: string
  parameterFormat: string
  components: StoredComponent[]
}

/** A message that may be sent. */
export interface Draft {
  from: SendingAccount
  template: SendableTemplate
  /** Body parameters in the order of the placeholders; `name` only for named placeholders. */
  parameters: { name?: string; text: string }[]
  emitSentEvent: boolean
}

/**
 * Decides from the facts alone whether a message may be sent; throws a `ServiceError` that says why
 * not. The account comes first: without it no template can be known.
 */
export function decide(facts: SendFacts, input: SendMessageRequest): Draft {
  const from = requireAccount(facts.whatsAppAccount, input.accountId)
  const template = requireTemplate(facts.template, input)
  const unsupported = findUnsupportedPart(template.components)
  if (unsupported !== undefined)
    throw invalidField('template', `${input.template} (${input.language}) cannot be sent: ${unsupported}.`)
  const variables = input.variables ?? {}
  const problems = findVariableProblems(template, variables)
  if (problems.length > 0) {
    const message = problems.map((problem) => `variables: ${problem}.`).join(' ')
    throw new ServiceError('VALIDATION_ERROR', message, { fields: { variables: `${problems.join('. ')}.` } })
  }
  return { from, template, parameters: listParameters(template, variables), emitSentEvent: facts.emitSentEvent }
}

function requireAccount(account: SendingAccount | undefined, accountId: string | undefined): SendingAccount {
  if (!account && accountId !== undefined)
    throw new ServiceError(
      'NO_ACTIVE_ACCOUNT',
      'accountId: no WhatsApp account of yours has this ID. Leave it out to send from the default account.',
    )
  if (!account)
    throw new ServiceError(
      'NO_ACTIVE_ACCOUNT',
      'No default WhatsApp account is set up. Add one, or name one in accountId.',
    )
  if (account.inactiveReason !== undefined)
    throw new ServiceError(
      'NO_ACTIVE_ACCOUNT',
      `The WhatsApp account ${account.id} is inactive: ${account.inactiveReason}.`,
    )
  return account
}

function requireTemplate(
  template: SendableTemplate | undefined,
  { template: name, language }: SendMessageRequest,
): SendableTemplate {
  if (!template)
    throw new ServiceError(
      'TEMPLATE_NOT_FOUND',
      `There is no template ${JSON.stringify(name)} in language ${language}.`,
    )
  if (template.status !== 'APPROVED')
    throw new ServiceError(
      'TEMPLATE_NOT_FOUND',
      `The template ${JSON.stringify(name)} in language ${language} is not approved: its status is ${template.status}.`,
    )
  return template
}

function listParameters(template: SendableTemplate, variables: Readonly<Record<string, string>>): Draft['parameters'] {
  const named = template.parameterFormat === 'NAMED'
  return listPlaceholders(template).map(({ key }) => ({ ...(named && { name: key }), text: variables[key] ?? '' }))
}
