import { Stack, Textarea } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { maxImportedRecipients } from '../../../../contracts/api/suppression.ts'
import { PhoneNumber } from '../../../../contracts/fields.ts'
import { readFailure } from '../../api/failure.ts'
import { api } from '../../api/client.ts'
import { useChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/session.ts'
import { ChangeButton } from '../../ui/change-button.tsx'
import { Section } from '../../ui/page.tsx'
import { suppressionsKey } from './suppressions-key.ts'

/** Adds one number, or a whole list that was pasted. */
export function AddSection() {
  const { accountId, canChange } = useAccount()
  const [text, setText] = useState('')
  const [refused, setRefused] = useState<string>()
  const add = useChange({
    change: (numbers: string[]) => addAll(accountId, numbers),
    invalidates: [suppressionsKey(accountId)],
    done: describeAdded,
    onDone: () => setText(''),
    onFailure: (error) => setRefused(readFailure(error).message),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const numbers = text.split(/[\s,;]+/).filter((number) => number !== '')
    const malformed = numbers.find((number) => !PhoneNumber.safeParse(number).success)
    if (numbers.length === 0) setRefused('Enter at least one number.')
    else if (malformed !== undefined)
      setRefused(
        `${malformed} is not a valid number. Enter the country code and the number, digits only, such as 34600111222.`,
      )
    else add.mutate(numbers)
  }
  return (
    <Section
      title="Add recipients"
      description="Numbers that you add stay on the list until you remove them, even if the recipient replies START."
    >
      <form onSubmit={submit} noValidate>
        <Stack gap="sm" align="flex-start">
          <Textarea
            w="100%"
            maw={520}
            label="Numbers"
            description="One per line, or separated by spaces or commas."
            placeholder="34600111222"
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
          <ChangeButton type="submit" variant="default" loading={add.isPending}>
            Add to list
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

async function addAll(accountId: string, numbers: string[]): Promise<Added> {
  if (numbers.length === 1 && numbers[0] !== undefined) {
    const { added } = await api.suppression.add.mutate({ accountId, to: numbers[0] })
    return { added: added ? 1 : 0, alreadySuppressed: added ? 0 : 1 }
  }
  const total = { added: 0, alreadySuppressed: 0 }
  for (let start = 0; start < numbers.length; start += maxImportedRecipients) {
    const recipients = numbers.slice(start, start + maxImportedRecipients)
    const part = await api.suppression.import.mutate({ accountId, recipients })
    total.added += part.added
    total.alreadySuppressed += part.alreadySuppressed
  }
  return total
}

function describeAdded({ added, alreadySuppressed }: Added): string {
  const already = alreadySuppressed === 0 ? '' : ` ${alreadySuppressed} already on the list.`
  return `${added} ${added === 1 ? 'recipient' : 'recipients'} added.${already}`
}
