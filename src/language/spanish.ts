/** Every sentence of the service, in Spanish. */
import type { Messages } from "./english.ts";

export const SPANISH: Messages = {
  // Before the stream
  forbiddenHost:
    "Este servidor no atiende el nombre de host de esta solicitud. Utilice localhost o inicie el servidor con --allow-host.",
  forbiddenOrigin:
    "Las páginas de este origen no pueden utilizar este servidor. Para permitirlo, inicie el servidor con --allow-origin.",
  notFound: "No hay nada en esta ruta. Las ejecuciones se inician con POST /.",
  methodNotAllowed: "Esta ruta no admite este método. Permitidos: {allowed}.",
  unauthorized: "Se requiere un token bearer válido.",
  unsupportedMediaType: "El cuerpo de la solicitud debe ser application/json.",
  requestTooLarge: "El cuerpo de la solicitud supera los {limit} bytes.",
  requestTimeout: "El cuerpo de la solicitud no llegó en un plazo de {seconds} segundos.",
  invalidJson: "El cuerpo de la solicitud no es JSON válido en UTF-8.",
  invalidInput: "La solicitud no es válida: {field}.",
  stateUnavailable: "En este momento no se puede leer ni escribir el estado de este hilo.",
  serverBusy: "El servidor ha alcanzado el máximo de ejecuciones activas. Vuelva a intentarlo más tarde.",
  duplicateRunId: "Esta solicitud ya se aceptó con el mismo runId.",
  runIdConflict: "Ya se aceptó otra solicitud con este runId.",
  threadBusy: "El hilo ya tiene una ejecución activa.",
  threadBindingConflict: "El hilo pertenece a otro espacio de trabajo o a otro solicitante.",
  resumeRequired: "El hilo está a la espera de respuestas a sus interrupciones.",
  executionExpired: "La interrupción ha caducado.",
  executionLost: "No se pudo recuperar la ejecución que debía continuar.",
  executionNotFound: "No existe tal ejecución para este hilo y este solicitante.",
  internalError: "El servidor no pudo procesar esta solicitud.",
  // Fields of a request
  fieldRequired: "El campo {field} es obligatorio.",
  fieldType: "El campo {field} debe ser de tipo {expected}.",
  fieldUnknown: "{field} no es un campo conocido.",
  fieldEmpty: "El campo {field} no debe estar vacío.",
  fieldTooLong: "El campo {field} supera los {limit} caracteres.",
  fieldTooMany: "{field} tiene más de {limit} elementos.",
  fieldAllowed: "El campo {field} debe ser uno de los siguientes: {allowed}.",
  fieldPositive: "El campo {field} debe ser un número entero positivo.",
  fieldText: "El campo {field} debe ser texto Unicode bien formado.",
  fieldHeaderName: "El campo {field} debe contener nombres y valores de encabezado HTTP válidos.",
  nestedTooDeeply: "El campo {field} tiene más de {limit} niveles de anidamiento.",
  toolsNotSupported: "El campo {field} debe estar vacío: no se admiten herramientas del cliente.",
  userMessageMissing: "El campo {field} debe contener un mensaje de usuario con texto o una imagen.",
  partNotSupported: "{field} es un tipo de contenido no admitido. Envíe texto, o imágenes como datos base64 en línea.",
  imageNotInline: "El campo {field} debe ser una imagen en forma de datos base64 en línea.",
  imageNotBase64: "El campo {field} no es base64 estricto (RFC 4648, con relleno y sin espacios en blanco).",
  imageTooLarge: "El campo {field} supera los {limit} bytes una vez decodificado.",
  imagesTooLarge: "Las imágenes de {field} superan en conjunto los {limit} bytes una vez decodificadas.",
  imageKind: "El campo {field} no es una imagen PNG, JPEG, GIF o WebP legible.",
  imagePixels: "El campo {field} tiene más de {limit} píxeles.",
  cwdNotAbsolute: "El campo {field} debe ser una ruta absoluta.",
  cwdOutside: "El campo {field} está fuera de las raíces permitidas para los espacios de trabajo.",
  cwdNotDirectory: "El campo {field} no es un directorio que pueda utilizarse como espacio de trabajo.",
  threadHeaderMismatch: "El campo {field} no coincide con el encabezado X-Thread-Id.",
  // Ends of a run
  incompleteResume: "Cada interrupción pendiente debe responderse exactamente una vez.",
  unknownInterrupt: "La respuesta hace referencia a una interrupción que no está pendiente.",
  resumePayloadInvalid: "La respuesta no se ajusta al esquema de respuesta de la interrupción.",
  resumeAlreadyApplied: "Esta interrupción ya se ha respondido.",
  sessionBackupNotReady:
    "La copia de seguridad de la sesión aún se está sincronizando. Vuelva a intentarlo en 3 segundos.",
  statePersistenceFailed:
    "No se pudo guardar el estado necesario para la recuperación, por lo que se detuvo la ejecución.",
  a2aUnavailable: "El servicio de ejecución iac-code no está disponible.",
  a2aProtocolError: "El servicio de ejecución iac-code respondió con algo que no corresponde a esta ejecución.",
  a2aExecutionFailed: "La ejecución ha fallado",
  cancelled: "Se canceló la ejecución.",
  // Interrupts
  permissionRequired: "Se requiere permiso.",
  inputRequired: "Se requiere una entrada.",
  // Events
  bytesLeftOut: "[se omitieron {bytes} bytes]",
};
