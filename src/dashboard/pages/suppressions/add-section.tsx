import { plural, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Stack, Textarea } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { maxImportedRecipients } from '../../../../contracts/api/suppression.ts'
import { readFailure } from '../../api/failure.ts'
import { api } from '../../api/client.ts'
import { useChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/session.ts'
import { ChangeButton } from '../../ui/change-button.tsx'
import { Section } from '../../ui/page.tsx'
import { readNumbers } from './read-numbers.ts'
import { ScopeChoice } from './scope-choice.tsx'
import { suppressionsKey } from './use-suppressions.ts'

/** Adds one number or a pasted list. */
export function AddSection() {
  const { accountId, canChange } = useAccount()
  const [text, setText] = useState('')
  const [allMessages, setAllMessages] = useState(false)
  const [refused, setRefused] = useState<string>()
  const add = useChange({
    change: (numbers: string[]) => addAll({ accountId, allMessages }, numbers),
    invalidates: [suppressionsKey(accountId)],
    done: describeAdded,
    onDone: () => setText(''),
    onFailure: (error) => setRefused(readFailure(error).message),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const { numbers, malformed } = readNumbers(text)
    if (numbers.length === 0) setRefused(t`Enter at least one number.`)
    else if (malformed !== undefined)
      setRefused(t`${malformed} is not a valid number. Enter the country code and the number, such as +34 600 111 222.`)
    else add.mutate(numbers)
  }
  return (
    <Section
      title={t`Add recipients`}
      description={t`Numbers that you add stay on the list until you remove them, even if the recipient replies START.`}
    >
      <form onSubmit={submit} noValidate>
        <Stack gap="sm" align="flex-start">
          <Textarea
            w="100%"
            maw={520}
            label={t`Numbers`}
            description={t`With the country code, one per line or separated by commas.`}
            placeholder="+34 600 111 222"
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

async function addAll(how: { accountId: string; allMessages: boolean }, numbers: string[]): Promise<Added> {
  if (numbers.length === 1 && numbers[0] !== undefined) {
    const { added } = await api.suppression.add.mutate({ ...how, to: numbers[0] })
    return { added: added ? 1 : 0, alreadySuppressed: added ? 0 : 1 }
  }
  const total = { added: 0, alreadySuppressed: 0 }
  for (let start = 0; start < numbers.length; start += maxImportedRecipients) {
    const recipients = numbers.slice(start, start + maxImportedRecipients)
    const part = await api.suppression.import.mutate({ ...how, recipients })
    total.added += part.added
    total.alreadySuppressed += part.alreadySuppressed
  }
  return total
}

function describeAdded({ added, alreadySuppressed }: Added): string {
  const recipients = plural(added, { one: '# recipient added.', other: '# recipients added.' })
  return alreadySuppressed === 0 ? recipients : `${recipients} ${t`${alreadySuppressed} already on the list.`}`
}
