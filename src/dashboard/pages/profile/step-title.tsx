import { Title } from '@mantine/core'
import { takeFocus } from '../../ui/take-focus.ts'

/** Takes the focus when its step begins: the button that led here is gone. */
export function StepTitle({ children }: { children: string }) {
  return (
    <Title order={3} ref={takeFocus} tabIndex={-1} style={{ outline: 'none' }}>
      {children}
    </Title>
  )
}
