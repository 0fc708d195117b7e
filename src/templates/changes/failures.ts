import type { Fact } from '../../../contracts/facts/fact.ts'
import { templateRefusals } from '../../../contracts/facts/template-refusals.ts'
import { ServiceError } from '../../../contracts/errors.ts'
import { deactivateRefused } from '../../whatsapp-accounts/change.ts'
import type { Deps } from '../../deps.ts'
import type { ReadOutcome } from '../../whatsapp/read-outcome.ts'
import type { TemplateAccount } from './template-account.ts'

type Failed = Extract<ReadOutcome<unknown>, { ok: false }>

/** WhatsApp's subcode if a template with this name and language exists. */
export const existsSubcode = 2_388_024

interface Advice {
  /** What WhatsApp objects to. */
  message: () => Fact
  fix: () => Fact
}

/**
 * By Meta's subcode (reference 2, section 3.2). WhatsApp's error texts are in the language of the token's user, so only
 * the subcode identifies the problem.
 */
const advices: Readonly<Record<number, Advice>> = {
  2388019: templateRefusals.limit,
  2388023: templateRefusals.deleting,
  2388024: templateRefusals.exists,
  2388039: templateRefusals.status,
  2388040: templateRefusals.length,
  2388042: templateRefusals.surplusField,
  2388043: templateRefusals.missingField,
  2388046: templateRefusals.name,
  2388047: templateRefusals.header,
  2388072: templateRefusals.body,
  2388073: templateRefusals.footer,
  2388155: templateRefusals.sample,
  2388293: templateRefusals.variables,
  2388299: templateRefusals.edges,
  2388339: templateRefusals.blocked,
}

/** By code, for errors without a subcode. */
const advicesByCode: Readonly<Record<number, Advice>> = {
  192: templateRefusals.phoneNumber,
  10: templateRefusals.permission,
  200: templateRefusals.permission,
  200002: templateRefusals.content,
}

/** Returns the message for a rejected change: what is wrong, how to fix it, and WhatsApp's own text. */
function describeTemplateRefusal({ error, subcode, reason }: Failed): Fact {
  if (!error) return templateRefusals.rejected({ reason })
  const said = error.details === undefined ? error.title : error.details
  const code = subcode === undefined ? String(error.code) : `${error.code}/${subcode}`
  const quoted = templateRefusals.quoted({ code, text: said.replace(/\.$/, '') })
  const advice = advices[subcode ?? 0] ?? advicesByCode[error.code > 200 && error.code <= 299 ? 200 : error.code]
  return advice
    ? templateRefusals.advised({ message: advice.message(), fix: advice.fix(), quoted })
    : templateRefusals.quoting({ quoted })
}

/** Returns the error for a failed change, or for a read before it. A rejected token deactivates its WhatsApp account. */
export async function explainTemplateFailure(
  deps: Pick<Deps, 'db'>,
  { accountId, whatsAppAccountId, accessTokenEncrypted }: TemplateAccount,
  failed: Failed,
  attempted: 'change' | 'read' = 'change',
): Promise<ServiceError> {
  const { refused, accountUnusable, reason, transient, throttled = false, error, subcode } = failed
  if (!refused)
    return new ServiceError(
      'WHATSAPP_UNAVAILABLE',
      `WhatsApp did not respond: ${reason}. ${
        attempted === 'read'
          ? 'Nothing was changed. Repeat the request.'
          : 'The change may have been made. Repeat the request; if the change was made, the repeat can fail.'
      }`,
      { retryAfterSeconds: 5 },
    )
  if (accountUnusable && error) {
    await deactivateRefused(deps, { accountId, id: whatsAppAccountId, accessTokenEncrypted }, error)
    return new ServiceError(
      'NO_ACTIVE_ACCOUNT',
      `WhatsApp rejected the access token of ${whatsAppAccountId}: ${reason}.`,
      { failureCode: String(error.code) },
    )
  }
  const message = describeTemplateRefusal(failed)
  const failureCode = error && String(error.code)
  if (transient === true)
    return new ServiceError(throttled ? 'WHATSAPP_THROTTLED' : 'WHATSAPP_UNAVAILABLE', message, {
      retryAfterSeconds: Math.max(throttled ? 600 : 10, failed.retryAfterSeconds ?? 0),
      failureCode,
    })
  return new ServiceError(subcode === existsSubcode ? 'TEMPLATE_EXISTS' : 'TEMPLATE_REFUSED', message, { failureCode })
}
