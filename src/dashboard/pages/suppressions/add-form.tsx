import { plural, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Text, Textarea } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useRef, useState } from 'react'
import { maxImportedRecipients } from '../../../../contracts/api/suppression.ts'
import { type Failure, readFailure } from '../../api/failure.ts'
import { api } from '../../api/client.ts'
import { useChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/session.ts'
import { Form, FormActions } from '../../ui/form.tsx'
import { toRecipientField } from '../../ui/phone-number.ts'
import { readNumbers } from './read-numbers.ts'
import { ScopeChoice } from './scope-choice.tsx'
import { suppressionsKey } from './use-suppressions.ts'

/** Adds one recipient or a pasted list. */
export function AddForm({ onDone }: { onDone: () => void }) {
  const { accountId } = useAccount()
  const [text, setText] = useState('')
  const [allMessages, setAllMessages] = useState(false)
  const [refused, setRefused] = useState<string>()
  const queryClient = useQueryClient()
  const progress = useRef(noProgress)
  const add = useChange({
    change: (recipients: string[]) => addAll({ accountId, allMessages }, recipients, (now) => (progress.current = now)),
    invalidates: [suppressionsKey(accountId)],
    done: describeAdded,
    onDone,
    onFailure: (error) => {
      setRefused(describeRefusal(readFailure(error), progress.current))
      // Of a long list, a part may have been added.
      void queryClient.invalidateQueries({ queryKey: suppressionsKey(accountId) })
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const { numbers, malformed } = readNumbers(text)
    if (numbers.length === 0) setRefused(t`Enter at least one recipient.`)
    else if (malformed !== undefined)
      setRefused(
        t`${malformed} is not a valid number or user ID. Enter the country code and the number, such as +34600111222.`,
      )
    else add.mutate(numbers)
  }
  return (
    <Form onSubmit={submit}>
      <Text size="sm">
        <Trans>Recipients who you add stay on the list until you remove them, even if they reply START.</Trans>
      </Text>
      <Textarea
        data-autofocus
        label={t`Recipients to add`}
        description={t`Numbers with the country code, or user IDs, one per line or separated by commas.`}
        placeholder="+34600111222"
        autosize
        minRows={2}
        maxRows={10}
        spellCheck={false}
        value={text}
        error={refused}
        onChange={(event) => {
          setText(event.currentTarget.value)
          setRefused(undefined)
        }}
      />
      <ScopeChoice allMessages={allMessages} onChange={setAllMessages} />
      <FormActions loading={add.isPending} onCancel={onDone}>{t`Add to list`}</FormActions>
    </Form>
  )
}

interface Added {
  added: number
  alreadySuppressed: number
}

interface Progress extends Added {
  /** The recipients of the last request. */
  requested: readonly string[]
}

const noProgress: Progress = { added: 0, alreadySuppressed: 0, requested: [] }

async function addAll(
  how: { accountId: string; allMessages: boolean },
  recipients: string[],
  onRequest: (progress: Progress) => void,
): Promise<Added> {
  if (recipients.length === 1 && recipients[0] !== undefined) {
    onRequest({ ...noProgress, requested: recipients })
    const { added } = await api.suppression.add.mutate({ ...how, ...toRecipientField(recipients[0]) })
    return { added: added ? 1 : 0, alreadySuppressed: added ? 0 : 1 }
  }
  const total = { added: 0, alreadySuppressed: 0 }
  for (let start = 0; start < recipients.length; start += maxImportedRecipients) {
    const some = recipients.slice(start, start + maxImportedRecipients)
    onRequest({ ...total, requested: some })
    const part = await api.suppression.import.mutate({ ...how, recipients: some })
    total.added += part.added
    total.alreadySuppressed += part.alreadySuppressed
  }
  return total
}

/** Names the number that is wrong: among many, its position would not help. Says first how many were added before. */
function describeRefusal(failure: Failure, { requested, ...before }: Progress): string {
  const refusal = describeFailure(failure, requested)
  return before.added === 0 ? refusal : `${describeAdded(before)} ${refusal}`
}

function describeFailure({ message, fields }: Failure, requested: readonly string[]): string {
  const [field = '', problem = message] = Object.entries(fields)[0] ?? []
  const index = field === 'to' ? 0 : Number(/^recipients\[(\d+)\]$/.exec(field)?.[1])
  const recipient = requested[index]
  return recipient === undefined ? message : `${recipient}: ${problem}`
}

function describeAdded({ added, alreadySuppressed }: Added): string {
  const recipients = plural(added, { one: '# recipient added.', other: '# recipients added.' })
  return alreadySuppressed === 0 ? recipients : `${recipients} ${t`${alreadySuppressed} already on the list.`}`
}
