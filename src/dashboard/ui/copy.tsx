import { t } from '@lingui/core/macro'
import { ActionIcon, Box, Button, Code, Group, Text, Textarea, TextInput, Tooltip } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import { type ReactNode, useEffect, useState } from 'react'
import { notifyFailureMessage } from '../api/use-change.ts'

interface CopyButtonProps {
  /** A function computes the text when it is copied. */
  text: string | (() => string)
  label?: string
}

export function CopyButton({ text, label = t`Copy` }: CopyButtonProps) {
  const { copied, copy } = useCopy(text)
  return (
    <Button
      variant="default"
      size="xs"
      leftSection={copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
      onClick={() => void copy()}
    >
      {copied ? t`Copied` : label}
    </Button>
  )
}

interface CopyableProps {
  value: string
  /** The name of the value within a sentence, such as `WABA ID`. */
  label: string
  /** The value as it is displayed, if it differs. */
  shown?: string
}

/** An inline value with a copy button. */
export function Copyable({ label, value, shown = value }: CopyableProps) {
  const { copied, copy } = useCopy(value)
  const action = copied ? t`Copied` : t`Copy ${label}`
  return (
    <Group component="span" gap={4} wrap="nowrap" align="center" display="inline-flex" maw="100%">
      <Text component="span" ff="monospace" fz={13} style={{ overflowWrap: 'anywhere' }}>
        {shown}
      </Text>
      <Tooltip label={action}>
        <ActionIcon variant="subtle" color="gray" size="sm" aria-label={action} onClick={() => void copy()}>
          {copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
        </ActionIcon>
      </Tooltip>
    </Group>
  )
}

interface CopyFieldProps {
  label: string
  value: string
  description?: ReactNode
  /** Whether a long value wraps instead of being cut off. */
  wraps?: boolean
}

/** A read-only field with a copy button. */
export function CopyField({ label, value, description, wraps = false }: CopyFieldProps) {
  const { copied, copy } = useCopy(value)
  const action = copied ? t`Copied` : t`Copy ${label}`
  const field = {
    label,
    ...(description !== undefined && { description }),
    value,
    readOnly: true,
    styles: {
      input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: wraps ? 'clamp(11px, 2.9vw, 13px)' : 13 },
    },
    rightSection: (
      <Tooltip label={action}>
        <ActionIcon variant="subtle" color="gray" aria-label={action} onClick={() => void copy()}>
          {copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
        </ActionIcon>
      </Tooltip>
    ),
  }
  if (wraps) return <Textarea {...field} autosize onFocus={(event) => event.currentTarget.select()} />
  return <TextInput {...field} onFocus={(event) => event.currentTarget.select()} />
}

interface CodeBlockProps {
  code: string
  /** The accessible name. */
  label: string
}

/** Code with a copy button. */
export function CodeBlock({ code, label }: CodeBlockProps) {
  return (
    <Box pos="relative">
      <Code block tabIndex={0} role="region" aria-label={label} p="md" pt={44} fz={13}>
        {code}
      </Code>
      <Box pos="absolute" top={8} right={8}>
        <CopyButton text={code} />
      </Box>
    </Box>
  )
}

const shownMilliseconds = 2000

/** Copies the text and reports it as copied for two seconds. */
function useCopy(text: string | (() => string)): { copied: boolean; copy: () => Promise<void> } {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), shownMilliseconds)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = async () => {
    if (await copyText(typeof text === 'string' ? text : text())) setCopied(true)
    else notifyFailureMessage(t`Your browser did not allow copying. Select the text and copy it by hand.`)
  }
  return { copied, copy }
}

/** Returns whether the text was copied. Without https, browsers have no clipboard API, but `execCommand` still works. */
async function copyText(text: string): Promise<boolean> {
  try {
    if (navigator.clipboard) {
      await navigator.clipboard.writeText(text)
      return true
    }
  } catch {
    // Denied by the browser; `execCommand` may still work.
  }
  return copyBySelection(text)
}

function copyBySelection(text: string): boolean {
  const focused = document.activeElement
  const field = document.createElement('textarea')
  field.value = text
  field.style.position = 'fixed'
  field.style.opacity = '0'
  // Inserted into an open dialog, because the dialog would take back the focus from an element outside.
  const container = focused?.closest('[role=dialog]') ?? document.body
  container.append(field)
  field.select()
  const copied = document.execCommand('copy')
  field.remove()
  if (focused instanceof HTMLElement) focused.focus()
  return copied
}
