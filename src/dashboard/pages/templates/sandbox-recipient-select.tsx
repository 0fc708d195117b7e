import { t } from '@lingui/core/macro'
import { Select, Text } from '@mantine/core'
import { say } from '../../language/facts.ts'
import { useUser } from '../../session/session.ts'

/** Offers the sandbox numbers that determine the outcome of a send. Hidden outside the sandbox. */
export function SandboxRecipientSelect({ disabled, onChoose }: { disabled: boolean; onChoose: (to: string) => void }) {
  const { sandbox } = useUser()
  if (!sandbox) return null
  return (
    <Select
      label={t`Simulate an outcome (optional)`}
      description={t`Fills in the number of a special recipient. Messages to all other numbers are delivered and read.`}
      placeholder={t`Choose a failure, a delay or another outcome`}
      searchable
      clearable
      disabled={disabled}
      data={groupRecipients(sandbox.recipients)}
      nothingFoundMessage={t`No such outcome`}
      maxDropdownHeight={320}
      renderOption={({ option: { value, label } }) => (
        <div>
          <Text size="sm">{label}</Text>
          <Text size="xs" c="dimmed" ff="monospace">
            {value}
          </Text>
        </div>
      )}
      onChange={(to) => {
        if (to !== null) onChoose(to)
      }}
    />
  )
}

type Recipient = NonNullable<ReturnType<typeof useUser>['sandbox']>['recipients'][number]

/** User IDs are left out, because a field for a number does not take them. */
function groupRecipients(recipients: readonly Recipient[]) {
  const byGroup = Map.groupBy(
    recipients.filter(({ to }) => /^\d/.test(to)),
    (recipient) => say(recipient, 'group'),
  )
  return [...byGroup].map(([group, members]) => ({
    group,
    items: members.map((recipient) => ({ value: recipient.to, label: say(recipient, 'does') })),
  }))
}
