import type { Tone } from '../../ui/badges.tsx'

interface StatusWords {
  tone: Tone
  label: string
  /** What WhatsApp means by it. */
  meaning: string
}

/** WhatsApp's template statuses (Meta, "Template management"). */
const statuses: Partial<Record<string, StatusWords>> = {
  APPROVED: { tone: 'good', label: 'Approved', meaning: 'WhatsApp has approved it.' },
  PENDING: { tone: 'active', label: 'Pending', meaning: 'WhatsApp is reviewing it.' },
  IN_APPEAL: { tone: 'active', label: 'In appeal', meaning: 'WhatsApp is reviewing your appeal.' },
  REJECTED: {
    tone: 'bad',
    label: 'Rejected',
    meaning: 'WhatsApp rejected it. Edit it and submit it again, or appeal in WhatsApp Manager.',
  },
  PAUSED: {
    tone: 'warning',
    label: 'Paused',
    meaning: 'Paused for low quality. It resumes after a few hours.',
  },
  DISABLED: { tone: 'bad', label: 'Disabled', meaning: 'Disabled for repeated low quality.' },
  LIMIT_EXCEEDED: {
    tone: 'bad',
    label: 'Limit exceeded',
    meaning: 'Your business has reached its template limit.',
  },
  ARCHIVED: { tone: 'neutral', label: 'Archived', meaning: 'Unused for a year. WhatsApp will delete it soon.' },
  PENDING_DELETION: { tone: 'neutral', label: 'Pending deletion', meaning: 'WhatsApp is deleting it.' },
  DELETED: { tone: 'neutral', label: 'Deleted', meaning: 'WhatsApp has deleted it.' },
}

/** Values that WhatsApp adds later are shown unchanged. */
export function describeStatus(status: string): StatusWords {
  return (
    statuses[status] ?? { tone: 'neutral', label: inWords(status), meaning: 'Only approved templates can be sent.' }
  )
}

/** `PENDING_DELETION` becomes `Pending deletion`. */
export function inWords(word: string): string {
  const words = word.toLowerCase().replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
