import { Button, Group, Stack, TextInput } from '@mantine/core'
import { useEffect, useState, type FormEvent } from 'react'
import { readFailure } from '../../api/failure.ts'

interface AddAddressFormProps {
  /** The address of whoever is looking; absent when it is on the list. */
  offered: string | undefined
  pending: boolean
  /** Why the list was not saved. */
  error: unknown
  /** A new object whenever it was saved. */
  saved: object | undefined
  onAdd: (entries: string[]) => void
}

export function AddAddressForm({ offered, pending, error, saved, onAdd }: AddAddressFormProps) {
  const [text, setText] = useState('')
  const [refused, setRefused] = useState<string>()
  useEffect(() => {
    if (saved) setText('')
  }, [saved])
  useEffect(() => setRefused(error ? readRefusal(error) : undefined), [error])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    // Several at once, as they are copied from elsewhere.
    const entries = text.split(/[\s,;]+/).filter((entry) => entry !== '')
    if (entries.length > 0) onAdd(entries)
    else setRefused('Type an address or a range.')
  }
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm" align="flex-start">
        <TextInput
          w="100%"
          maw={520}
          label="Add an address or a range"
          placeholder="192.0.2.10 or 192.0.2.0/24"
          autoComplete="off"
          spellCheck={false}
          value={text}
          error={refused}
          onChange={(event) => {
            setText(event.currentTarget.value)
            setRefused(undefined)
          }}
        />
        <Group gap="sm">
          <Button type="submit" variant="default" loading={pending}>
            Add to the list
          </Button>
          {offered !== undefined && (
            <Button variant="subtle" disabled={pending} onClick={() => onAdd([offered])}>
              Add my address ({offered})
            </Button>
          )}
        </Group>
      </Stack>
    </form>
  )
}

/** The list as a whole has one field here, whichever entry is meant. */
function readRefusal(error: unknown): string {
  const { message, fields } = readFailure(error)
  return Object.values(fields)[0] ?? message
}
