/** The fields for what is sent with every message. Secrets are password fields, and are kept in memory only. */
import type { ComponentChildren, VNode } from "preact";
import { type Fields, LANGUAGES, type Secrets } from "../state/fields.ts";
import { useWords } from "./words.tsx";

interface SettingsProps {
  fields: Fields;
  secrets: Secrets;
  /** Whether the service wants a token. */
  wantsToken: boolean;
  onFields: (change: Partial<Fields>) => void;
  onSecrets: (change: Partial<Secrets>) => void;
}

const LANGUAGE_NAMES: Readonly<Record<Fields["language"], string>> = {
  en: "English",
  zh: "中文",
  es: "Español",
  fr: "Français",
  de: "Deutsch",
  ja: "日本語",
  pt: "Português",
};

/** All settings. */
export function Settings(props: SettingsProps): VNode {
  const { fields, secrets, wantsToken, onFields, onSecrets } = props;
  const { say } = useWords();
  return (
    <form class="settings" aria-labelledby="settings-title" onSubmit={(event) => event.preventDefault()}>
      <h2 id="settings-title">{say("settings")}</h2>
      {wantsToken && (
        <>
          <TextField
            name="token"
            label={say("token")}
            secret
            value={secrets.token}
            onValue={(token) => onSecrets({ token })}
          />
          <p class="meta">{say("tokenAbout")}</p>
        </>
      )}
      <TextSetting {...props} name="cwd" placeholder="/" />
      <SelectField
        name="language"
        label={say("language")}
        value={fields.language}
        onValue={(language) => onFields({ language: language as Fields["language"] })}
      >
        {LANGUAGES.map((tag) => <option key={tag} value={tag}>{LANGUAGE_NAMES[tag]}</option>)}
      </SelectField>
      <ModeSettings {...props} />
      <TextSetting {...props} name="model" placeholder={say("modelDefault")} />
      <ThinkingSettings {...props} />
      <Keys secrets={secrets} onSecrets={onSecrets} />
    </form>
  );
}

type FieldsProps = Pick<SettingsProps, "fields" | "onFields">;

interface TextSettingProps extends FieldsProps {
  name: "cwd" | "pipelineName" | "model" | "effort" | "budget";
  placeholder?: string;
}

function TextSetting({ fields, onFields, name, placeholder = "" }: TextSettingProps): VNode {
  const { say } = useWords();
  return (
    <TextField
      name={name}
      label={say(name)}
      value={fields[name]}
      placeholder={placeholder}
      onValue={(value) => onFields({ [name]: value })}
    />
  );
}

function ModeSettings({ fields, onFields }: FieldsProps): VNode {
  const { say } = useWords();
  return (
    <>
      <SelectField
        name="runMode"
        label={say("runMode")}
        value={fields.runMode}
        onValue={(runMode) => onFields({ runMode: runMode as Fields["runMode"] })}
      >
        <option value="normal">{say("runModeNormal")}</option>
        <option value="pipeline">{say("runModePipeline")}</option>
      </SelectField>
      {fields.runMode === "pipeline" && (
        <>
          <TextSetting fields={fields} onFields={onFields} name="pipelineName" placeholder="selling" />
          <SelectField
            name="candidatePresentation"
            label={say("candidatePresentation")}
            value={fields.candidatePresentation}
            onValue={(value) => onFields({ candidatePresentation: value as Fields["candidatePresentation"] })}
          >
            <option value="rich">{say("presentationRich")}</option>
            <option value="standard">{say("presentationStandard")}</option>
          </SelectField>
        </>
      )}
    </>
  );
}

function ThinkingSettings({ fields, onFields }: FieldsProps): VNode {
  const { say } = useWords();
  return (
    <>
      <label class="switch">
        <input
          type="checkbox"
          checked={fields.thinking}
          onChange={({ currentTarget }) => onFields({ thinking: currentTarget.checked })}
        />
        {say("thinking")}
      </label>
      {fields.thinking && (
        <>
          <TextSetting fields={fields} onFields={onFields} name="effort" />
          <TextSetting fields={fields} onFields={onFields} name="budget" />
        </>
      )}
    </>
  );
}

const KEYS = ["llmApiKey", "accessKeyId", "accessKeySecret", "securityToken", "regionId"] as const;

function Keys({ secrets, onSecrets }: Pick<SettingsProps, "secrets" | "onSecrets">): VNode {
  const { say } = useWords();
  return (
    <details>
      <summary>{say("keys")}</summary>
      <p class="meta">{say("keysAbout")}</p>
      {KEYS.map((name) => (
        <TextField
          key={name}
          name={name}
          label={say(name)}
          secret={name !== "regionId"}
          value={secrets[name]}
          onValue={(value) => onSecrets({ [name]: value })}
        />
      ))}
    </details>
  );
}

interface TextFieldProps {
  name: string;
  label: string;
  value: string;
  onValue: (value: string) => void;
  placeholder?: string;
  secret?: boolean;
}

function TextField(
  { name, label, value, onValue, placeholder = "", secret = false }: TextFieldProps,
): VNode {
  const id = `setting-${name}`;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        {...(secret ? { type: "password" as const } : { type: "text" as const })}
        // Browsers do not offer to keep a "new password" that no form sends.
        autocomplete={secret ? "new-password" : "off"}
        spellcheck={false}
        value={value}
        placeholder={placeholder}
        onInput={({ currentTarget }) => onValue(currentTarget.value)}
      />
    </div>
  );
}

interface SelectFieldProps {
  name: string;
  label: string;
  value: string;
  onValue: (value: string) => void;
  children: ComponentChildren;
}

function SelectField({ name, label, value, onValue, children }: SelectFieldProps): VNode {
  const id = `setting-${name}`;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={({ currentTarget }) => onValue(currentTarget.value)}>{children}</select>
    </div>
  );
}
