import { useState } from 'react'
import type { NewAuthenticator } from '../../api/sign-in-two-factor.ts'
import { BackupCodes } from './backup-codes.tsx'
import { BeginForm } from './begin-form.tsx'
import { ConnectStep } from './connect-step.tsx'

type Step =
  | { name: 'begin' }
  | { name: 'connect'; authenticator: NewAuthenticator }
  | { name: 'keep'; backupCodes: string[] }

/** The password, the app, the backup codes: one after the other. It is on once the app has proven itself. */
export function SetUpAuthenticator({ onEnd }: { onEnd: () => void }) {
  const [step, setStep] = useState<Step>({ name: 'begin' })
  switch (step.name) {
    case 'begin':
      return <BeginForm onBegun={(authenticator) => setStep({ name: 'connect', authenticator })} onCancel={onEnd} />
    case 'connect': {
      const { totpURI, backupCodes } = step.authenticator
      return <ConnectStep uri={totpURI} onConnected={() => setStep({ name: 'keep', backupCodes })} onCancel={onEnd} />
    }
    case 'keep':
      return <BackupCodes codes={step.backupCodes} onDone={onEnd} />
  }
}
