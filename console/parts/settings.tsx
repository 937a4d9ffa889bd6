/** The fields for what is sent with every message. Secrets are password fields, and are kept in memory only. */
import type { ComponentChildren, VNode } from "preact";
import { type Fields, LANGUAGES, type Secrets } from "../state/fields.ts";
import type { WordKey } from "../state/words_en.ts";
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
export function Settings({ fields, secrets, wantsToken, onFields, onSecrets }: SettingsProps): VNode {
  const { say } = useWords();
  const text = (
    name: "cwd" | "pipelineName" | "model" | "effort" | "budget",
    label: WordKey,
    placeholder = "",
  ): VNode => (
    <TextField
      name={name}
      label={say(label)}
      value={fields[name]}
      placeholder={placeholder}
      onValue={(value) => onFields({ [name]: value })}
    />
  );
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
      {text("cwd", "cwd", "/")}
      <SelectField
        name="language"
        label={say("language")}
        value={fields.language}
        onValue={(language) => onFields({ language: language as Fields["language"] })}
      >
        {LANGUAGES.map((tag) => <option key={tag} value={tag}>{LANGUAGE_NAMES[tag]}</option>)}
      </SelectField>
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
          {text("pipelineName", "pipelineName", "selling")}
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
      {text("model", "model", say("modelDefault"))}
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
          {text("effort", "effort")}
          {text("budget", "budget")}
        </>
      )}
      <Keys secrets={secrets} onSecrets={onSecrets} />
    </form>
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
