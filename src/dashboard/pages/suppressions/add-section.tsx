import { plural, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Stack, Textarea } from '@mantine/core'
import { type FormEvent, useRef, useState } from 'react'
import { maxImportedRecipients } from '../../../../contracts/api/suppression.ts'
import { type Failure, readFailure } from '../../api/failure.ts'
import { api } from '../../api/client.ts'
import { useChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/session.ts'
import { ChangeButton } from '../../ui/change-button.tsx'
import { Section, useHashTarget } from '../../ui/page.tsx'
import { toRecipientField } from '../../ui/phone-number.ts'
import { readRecipients } from './read-recipients.ts'
import { ScopeChoice } from './scope-choice.tsx'
import { suppressionsKey } from './use-suppressions.ts'

/** Adds one recipient or a pasted list. */
export function AddSection() {
  const { accountId, canChange } = useAccount()
  const [text, setText] = useState('')
  const [allMessages, setAllMessages] = useState(false)
  const [refused, setRefused] = useState<string>()
  /** Those of the last request. */
  const requested = useRef<string[]>([])
  const add = useChange({
    change: (recipients: string[]) =>
      addAll({ accountId, allMessages }, recipients, (some) => (requested.current = some)),
    invalidates: [suppressionsKey(accountId)],
    done: describeAdded,
    onDone: () => setText(''),
    onFailure: (error) => setRefused(describeRefusal(readFailure(error), requested.current)),
  })
  useHashTarget(true)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const { recipients, malformed } = readRecipients(text)
    if (recipients.length === 0) setRefused(t`Enter at least one recipient.`)
    else if (malformed !== undefined)
      setRefused(
        t`${malformed} is not a valid number or user ID. Enter the country code and the number, such as +34600111222.`,
      )
    else add.mutate(recipients)
  }
  return (
    <Section
      id="add"
      title={t`Add recipients`}
      description={t`Recipients who you add stay on the list until you remove them, even if they reply START.`}
    >
      <form onSubmit={submit} noValidate>
        <Stack gap="sm" align="flex-start">
          <Textarea
            w="100%"
            maw={520}
            label={t`Recipients to add`}
            description={t`Numbers with the country code, or user IDs, one per line or separated by commas.`}
            placeholder="+34600111222"
            autosize
            minRows={2}
            maxRows={10}
            spellCheck={false}
            disabled={!canChange}
            value={text}
            error={refused}
            onChange={(event) => {
              setText(event.currentTarget.value)
              setRefused(undefined)
            }}
          />
          <ScopeChoice allMessages={allMessages} disabled={!canChange} onChange={setAllMessages} />
          <ChangeButton type="submit" variant="default" loading={add.isPending}>
            <Trans>Add to list</Trans>
          </ChangeButton>
        </Stack>
      </form>
    </Section>
  )
}

interface Added {
  added: number
  alreadySuppressed: number
}

async function addAll(
  how: { accountId: string; allMessages: boolean },
  recipients: string[],
  onRequest: (some: string[]) => void,
): Promise<Added> {
  if (recipients.length === 1 && recipients[0] !== undefined) {
    onRequest(recipients)
    const { added } = await api.suppression.add.mutate({ ...how, ...toRecipientField(recipients[0]) })
    return { added: added ? 1 : 0, alreadySuppressed: added ? 0 : 1 }
  }
  const total = { added: 0, alreadySuppressed: 0 }
  for (let start = 0; start < recipients.length; start += maxImportedRecipients) {
    const some = recipients.slice(start, start + maxImportedRecipients)
    onRequest(some)
    const part = await api.suppression.import.mutate({ ...how, recipients: some })
    total.added += part.added
    total.alreadySuppressed += part.alreadySuppressed
  }
  return total
}

/** Names the number that is wrong: among many, its position would not help. */
function describeRefusal({ message, fields }: Failure, requested: readonly string[]): string {
  const [field = '', problem = message] = Object.entries(fields)[0] ?? []
  const index = field === 'to' ? 0 : Number(/^recipients\[(\d+)\]$/.exec(field)?.[1])
  const recipient = requested[index]
  return recipient === undefined ? message : `${recipient}: ${problem}`
}

function describeAdded({ added, alreadySuppressed }: Added): string {
  const recipients = plural(added, { one: '# recipient added.', other: '# recipients added.' })
  return alreadySuppressed === 0 ? recipients : `${recipients} ${t`${alreadySuppressed} already on the list.`}`
}
