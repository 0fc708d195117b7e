import { ServiceError } from '../../../contracts/errors.ts'
import { deactivateRefused } from '../../whatsapp-accounts/refusals.ts'
import type { Deps } from '../../deps.ts'
import { isThrottling } from '../../whatsapp/error-codes.ts'
import type { ReadOutcome } from '../../whatsapp/read-outcome.ts'
import type { TemplateAccount } from './template-account.ts'

type Failed = Extract<ReadOutcome<unknown>, { ok: false }>

/** WhatsApp's subcode if a template with this name and language exists. */
export const existsSubcode = 2_388_024

interface Advice {
  /** What WhatsApp objects to. */
  message: string
  fix: string
}

/**
 * By Meta's subcode (reference 2, section 3.2). WhatsApp's error texts are in the language of the token's user, so only
 * the subcode identifies the problem.
 */
const advices: Readonly<Record<number, Advice>> = {
  2388019: {
    message: 'The business account has reached its template limit.',
    fix: 'Delete templates that are no longer used, or verify the business to get a higher limit.',
  },
  2388023: {
    message: 'This language of the template is being deleted.',
    fix: 'Use another name, or wait until WhatsApp has deleted it, which can take 30 days.',
  },
  2388024: {
    message: 'WhatsApp has a template of this name and language already.',
    fix: 'Update it, or choose another name.',
  },
  2388039: {
    message: 'The template cannot be changed in its present status.',
    fix: 'WhatsApp allows changes of templates that are APPROVED, REJECTED or PAUSED. Wait for the end of the review.',
  },
  2388040: { message: 'A text is longer than WhatsApp allows.', fix: 'Shorten it.' },
  2388042: {
    message: 'A part of the template has a field that WhatsApp does not expect there.',
    fix: 'Remove the field that this kind of template does not support.',
  },
  2388043: { message: 'A part of the template lacks a required field.', fix: 'Add it: most often an example value.' },
  2388046: {
    message: 'WhatsApp does not accept the name.',
    fix: 'Use lower-case letters, digits and underscores only.',
  },
  2388047: {
    message: 'WhatsApp does not accept the header.',
    fix: 'Remove line breaks, emoji, formatting and surplus variables from it.',
  },
  2388072: {
    message: 'WhatsApp does not accept the body.',
    fix: 'Check its variables, its line breaks and its formatting.',
  },
  2388073: { message: 'WhatsApp does not accept the footer.', fix: 'Remove variables, line breaks and emoji from it.' },
  2388155: { message: 'The name belongs to a sample template of WhatsApp.', fix: 'Choose another name.' },
  2388293: {
    message: 'The body has too many variables for its length.',
    fix: 'Add words around the variables, or use fewer of them.',
  },
  2388299: {
    message: 'The text starts or ends with a variable.',
    fix: 'Put words before the first and after the last variable.',
  },
  2388339: {
    message: 'WhatsApp does not let this business account create templates.',
    fix: 'Check the account in WhatsApp Manager, or ask the support of Meta.',
  },
}

/** By code, for errors without a subcode. */
const advicesByCode: Readonly<Record<number, Advice>> = {
  192: {
    message: 'A phone number of a button is not valid.',
    fix: 'Write it with its country code, such as +34600111222.',
  },
  10: permission(),
  200: permission(),
  200002: { message: 'WhatsApp did not accept the template.', fix: 'Check it for content that its policies forbid.' },
}

function permission(): Advice {
  return {
    message: 'The access token may not change templates.',
    fix: 'Create a token with the permission whatsapp_business_management, and replace it under WhatsApp accounts.',
  }
}

/** Returns the message for a rejected change: what is wrong, how to fix it, and WhatsApp's own text. */
function describeTemplateRefusal({ error, subcode, reason }: Failed): string {
  if (!error) return `WhatsApp rejected the change: ${reason}.`
  const said = error.details === undefined ? error.title : error.details
  const code = subcode === undefined ? String(error.code) : `${error.code}/${subcode}`
  const quoted = `WhatsApp said (${code}): ${said.replace(/\.$/, '')}.`
  const advice = advices[subcode ?? 0] ?? advicesByCode[error.code > 200 && error.code <= 299 ? 200 : error.code]
  return advice ? `${advice.message} ${advice.fix} ${quoted}` : `WhatsApp rejected the change. ${quoted}`
}

/** Returns the error for a failed change. A rejected token deactivates its WhatsApp account. */
export async function explainTemplateFailure(
  deps: Pick<Deps, 'db'>,
  { accountId, whatsAppAccountId, accessTokenEncrypted }: TemplateAccount,
  failed: Failed,
): Promise<ServiceError> {
  const { refused, accountUnusable, reason, transient, error, subcode } = failed
  if (!refused)
    return new ServiceError(
      'WHATSAPP_UNAVAILABLE',
      `WhatsApp did not respond: ${reason}. The change may have been made. It is safe to repeat the request.`,
      { retryAfterSeconds: 5 },
    )
  if (accountUnusable) {
    const rejected = { account_id: accountId, id: whatsAppAccountId, access_token_encrypted: accessTokenEncrypted }
    await deactivateRefused(deps, rejected, reason)
    return new ServiceError(
      'NO_ACTIVE_ACCOUNT',
      `WhatsApp rejected the access token of ${whatsAppAccountId}: ${reason}.`,
    )
  }
  const message = describeTemplateRefusal(failed)
  if (transient === true) {
    const isThrottled = error !== undefined && isThrottling(error.code)
    return new ServiceError(isThrottled ? 'WHATSAPP_THROTTLED' : 'WHATSAPP_UNAVAILABLE', message, {
      retryAfterSeconds: isThrottled ? 600 : 10,
    })
  }
  return new ServiceError(subcode === existsSubcode ? 'TEMPLATE_EXISTS' : 'TEMPLATE_REFUSED', message)
}
