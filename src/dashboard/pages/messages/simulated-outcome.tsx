import { t } from '@lingui/core/macro'
import { VisuallyHidden } from '@mantine/core'
import { IconFlask } from '@tabler/icons-react'
import { say } from '../../language/facts.ts'
import { useUser } from '../../session/session.ts'

/** What the sandbox simulates for a special recipient; undefined for all other numbers, and outside the sandbox. */
export function useSimulatedOutcome(to: string): string | undefined {
  const recipient = useUser().sandbox?.recipients.find((one) => one.to === to)
  return recipient && say(recipient, 'does')
}

/** Marks a message whose outcome was chosen by its recipient, so that its failure is not taken for a real one. */
export function SimulatedBadge({ to }: { to: string }) {
  const outcome = useSimulatedOutcome(to)
  if (outcome === undefined) return null
  return (
    <span title={outcome}>
      <IconFlask size={16} color="var(--mantine-color-dimmed)" style={{ verticalAlign: 'text-bottom' }} aria-hidden />
      <VisuallyHidden>{t`Simulated outcome`}</VisuallyHidden>
    </span>
  )
}
