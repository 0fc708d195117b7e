import type { Plan } from '../messages/plans.ts'

/** The statuses of a message whose file WhatsApp cannot use. */
export interface Delivery {
  plan: Plan
}

/** A file whose ID or link determines the outcome of a message. */
interface SandboxMedia {
  /** A media ID or a link. */
  file: string
  /** The outcome in one sentence, for the guide. */
  does: string
  delivery?: Delivery
  /** True if the send is refused, as for an ID that does not exist. */
  expired?: true
}

/** Nobody can own a host below `.example` (RFC 2606). */
export const sandboxMedia: readonly SandboxMedia[] = [
  {
    file: 'https://fails.example/403',
    does: 'Sent, then failed (131053): the server of the link rejects the download',
    delivery: { plan: 'mediaForbidden' },
  },
  {
    file: 'https://fails.example/404',
    does: 'Sent, then failed (131053): the server of the link has no such file',
    delivery: { plan: 'mediaMissing' },
  },
  {
    file: 'https://fails.example/type',
    does: 'Sent, then failed (131053): the file does not match its declared type',
    delivery: { plan: 'mediaWrongType' },
  },
  {
    file: '9000000000131053',
    does: 'Sent, then failed (131053): the uploaded file does not match its declared type',
    delivery: { plan: 'mediaWrongType' },
  },
  { file: '9000000000000033', does: 'Rejected (100): the uploaded file has expired', expired: true },
  { file: '9000000000000001', does: 'Accepted: an uploaded file that each number has, of any type' },
]

const byFile = new Map(sandboxMedia.map((media) => [media.file, media]))

export function findSandboxMedia({ id, link }: { id?: string | undefined; link?: string | undefined }) {
  return byFile.get(id ?? link ?? '')
}
