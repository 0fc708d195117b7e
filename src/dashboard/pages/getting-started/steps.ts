import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'

/** The setup steps of a new account, in order. Each step requires the previous one. */
export const steps = ['connect', 'key', 'send', 'webhook'] as const
export type Step = (typeof steps)[number]

export type Progress = Record<Step, boolean>

/** The first incomplete step; undefined if all are done. */
export function findNextStep(progress: Progress): Step | undefined {
  return steps.find((step) => !progress[step])
}

interface StepText {
  title: MessageDescriptor
  /** Why, in one sentence. */
  description: MessageDescriptor
  action: MessageDescriptor
  /** Path of the page, relative to the account. */
  path: string
}

export const stepTexts: Record<Step, StepText> = {
  connect: {
    title: msg`Connect WhatsApp`,
    description: msg`Messages are sent from a number of your WhatsApp Business Account.`,
    action: msg`Connect a number`,
    path: 'whatsapp-accounts/connect',
  },
  key: {
    title: msg`Generate an API key`,
    description: msg`Your application sends it with every request.`,
    action: msg`Get an API key`,
    path: 'public-api',
  },
  send: {
    title: msg`Send your first message`,
    description: msg`Public API has an example request in your programming language, filled with your templates.`,
    action: msg`Open Public API`,
    path: 'public-api#example-request',
  },
  webhook: {
    title: msg`Receive statuses`,
    description: msg`Your webhook endpoint receives deliveries, reads and failures.`,
    action: msg`Add an endpoint`,
    path: 'webhooks',
  },
}
