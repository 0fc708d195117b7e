import { Anchor, Stack } from '@mantine/core'
import { useState } from 'react'
import { DoorPage } from '../../layout/door-page.tsx'
import { CodeForm, type CodeKind } from './code-form.tsx'

interface CodeStepProps {
  onSignedIn: () => Promise<void>
  /** The password has to be typed again: for the reason given, or because the person wants to. */
  onBeginAgain: (reason?: string) => void
}

export function CodeStep({ onSignedIn, onBeginAgain }: CodeStepProps) {
  const [kind, setKind] = useState<CodeKind>('app')
  const { description, other, toOther } = kinds[kind]
  return (
    <DoorPage title="Enter your code" description={description}>
      <CodeForm key={kind} kind={kind} onSignedIn={onSignedIn} onEnded={onBeginAgain} />
      <Stack gap="xs" mt="lg" align="center">
        <Anchor component="button" type="button" size="sm" onClick={() => setKind(other)}>
          {toOther}
        </Anchor>
        <Anchor component="button" type="button" size="sm" onClick={() => onBeginAgain()}>
          Sign in as somebody else
        </Anchor>
      </Stack>
    </DoorPage>
  )
}

const kinds = {
  app: {
    description: 'Type the code that your authenticator app shows for Waybill.',
    other: 'backup',
    toOther: 'Use a backup code instead',
  },
  backup: {
    description: 'Type one of the codes that you stored when you set up your authenticator app. Each works once.',
    other: 'app',
    toOther: 'Use the authenticator app instead',
  },
} as const satisfies Record<CodeKind, { description: string; other: CodeKind; toOther: string }>
