import { type MessageDescriptor } from '@lingui/core'
import { msg, t } from '@lingui/core/macro'
import { capitalize } from '../../language/facts.ts'
import { translate } from '../../language/i18n.ts'
import type { Tone } from '../../ui/tone.ts'

interface StatusWords {
  tone: Tone
  label: string
  /** WhatsApp's meaning of the status. */
  meaning: string
}

/** WhatsApp's template statuses (Meta, "Template management"). */
const statuses: Partial<Record<string, { tone: Tone; label: MessageDescriptor; meaning: MessageDescriptor }>> = {
  APPROVED: {
    tone: 'good',
    label: msg({ message: 'Approved', context: 'template' }),
    meaning: msg`WhatsApp has approved it.`,
  },
  PENDING: {
    tone: 'active',
    label: msg({ message: 'Pending', context: 'template' }),
    meaning: msg`WhatsApp is reviewing it.`,
  },
  IN_APPEAL: { tone: 'active', label: msg`In appeal`, meaning: msg`WhatsApp is reviewing your appeal.` },
  REJECTED: {
    tone: 'bad',
    label: msg({ message: 'Rejected', context: 'template' }),
    meaning: msg`WhatsApp rejected it. Edit it and submit it again, or appeal in WhatsApp Manager.`,
  },
  PAUSED: {
    tone: 'warning',
    label: msg({ message: 'Paused', context: 'template' }),
    meaning: msg`Paused for low quality. It resumes after a few hours.`,
  },
  DISABLED: {
    tone: 'bad',
    label: msg({ message: 'Disabled', context: 'template' }),
    meaning: msg`Disabled for repeated low quality.`,
  },
  LIMIT_EXCEEDED: {
    tone: 'bad',
    label: msg`Limit exceeded`,
    meaning: msg`Your business has reached its template limit.`,
  },
  ARCHIVED: {
    tone: 'neutral',
    label: msg({ message: 'Archived', context: 'template' }),
    meaning: msg`Unused for a year. WhatsApp will delete it soon.`,
  },
  PENDING_DELETION: { tone: 'neutral', label: msg`Pending deletion`, meaning: msg`WhatsApp is deleting it.` },
  DELETED: {
    tone: 'neutral',
    label: msg({ message: 'Deleted', context: 'template' }),
    meaning: msg`WhatsApp has deleted it.`,
  },
}

/** Values that WhatsApp adds later are shown unchanged. */
export function describeStatus(status: string): StatusWords {
  const known = statuses[status]
  if (!known) return { tone: 'neutral', label: inWords(status), meaning: t`Only approved templates can be sent.` }
  return { tone: known.tone, label: translate(known.label), meaning: translate(known.meaning) }
}

/** Words that WhatsApp writes in capitals: categories, media, buttons and rejection reasons. */
const words: Partial<Record<string, MessageDescriptor>> = {
  MARKETING: msg`Marketing`,
  UTILITY: msg`Utility`,
  AUTHENTICATION: msg`Authentication`,
  TEXT: msg`Text`,
  IMAGE: msg`Image`,
  VIDEO: msg`Video`,
  DOCUMENT: msg`Document`,
  LOCATION: msg`Location`,
  PRODUCT: msg`Product`,
  QUICK_REPLY: msg`Quick reply`,
  PHONE_NUMBER: msg`Phone number`,
  COPY_CODE: msg`Copy code`,
  VOICE_CALL: msg`Voice call`,
  REQUEST_CONTACT_INFO: msg`Share Contact Info`,
  FLOW: msg`Flow`,
  CATALOG: msg`Catalog`,
  NONE: msg`None`,
  ABUSIVE_CONTENT: msg`Abusive content`,
  INVALID_FORMAT: msg`Invalid format`,
  PROMOTIONAL: msg`Promotional`,
  TAG_CONTENT_MISMATCH: msg`Tag content mismatch`,
  INCORRECT_CATEGORY: msg`Incorrect category`,
  SCAM: msg`Scam`,
}

const otherCategory = msg`The text does not fit the category. If it promotes anything, submit it as marketing.`

/** What usually helps against a reason of a rejection. WhatsApp's own texts say no more than the reason. */
const cures: Partial<Record<string, MessageDescriptor>> = {
  INVALID_FORMAT: msg`Check the spelling, the language, the examples of the variables, and that no variable begins or ends the text.`,
  TAG_CONTENT_MISMATCH: otherCategory,
  INCORRECT_CATEGORY: otherCategory,
  PROMOTIONAL: otherCategory,
  ABUSIVE_CONTENT: msg`WhatsApp takes the text for abusive or threatening, such as a reminder that mentions legal action.`,
  SCAM: msg`WhatsApp takes the text for misleading. Name your company, and link to its own website.`,
}

/** Says why WhatsApp rejected a template, and what to do. */
export function describeRejection(reason: string | undefined): string {
  if (reason === undefined || reason === 'NONE') return describeStatus('REJECTED').meaning
  const cure = cures[reason]
  const next = t`Edit it and submit it again, or appeal in WhatsApp Manager.`
  return [t`WhatsApp rejected it: ${inWords(reason)}.`, cure && translate(cure), next].filter(Boolean).join(' ')
}

/** `PENDING_DELETION` becomes `Pending deletion`, if it is not among the known words. */
export function inWords(word: string): string {
  const known = words[word]
  if (known) return translate(known)
  return capitalize(word.toLowerCase().replaceAll('_', ' '))
}
